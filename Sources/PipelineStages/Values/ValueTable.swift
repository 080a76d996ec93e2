import JSONPath
import PipelineCore
import PipelineHTTP

/// Names and values of a `query`, a `form`, `headers` or `fields` as the document has them: null leaves a value out,
/// an array repeats its name, an object is compact JSON.
struct ValueTable: Sendable {
    /// One name with the template of its value.
    struct Entry: Sendable {
        let name: String
        let value: JSONTemplate
        /// The place where the value stands in the document.
        let range: SourceRange
        /// True if the value is made from a secret.
        let isSecret: Bool
    }

    let entries: [Entry]
    /// True if the JSON of an object has all but ASCII escaped, as a header needs it (RFC 9110, section 5.5).
    let isASCII: Bool

    init(_ entries: [Entry] = [], isASCII: Bool = false) {
        self.entries = entries
        self.isASCII = isASCII
    }

    /// The values that its own are made from.
    var references: [Reference] { entries.flatMap(\.value.references) }

    /// The names whose values are made from secrets.
    var secretNames: [String] { entries.filter(\.isSecret).map(\.name) }

    /// The headers that hold credentials: by their values, or by what they are called.
    var credentials: [Entry] {
        entries.filter { $0.isSecret || RequestDescription.isUsualCredential($0.name) }
    }

    /// The names of these headers.
    var credentialNames: [String] { credentials.map(\.name) }

    /// Names and texts in the document's order.
    func pairs(in scope: Scope) throws(EvaluationFailure) -> [(name: String, value: String)] {
        var pairs: [(name: String, value: String)] = []
        for entry in entries {
            let value = try entry.value.evaluate(in: scope)
            for text in Self.texts(of: value, isASCII: isASCII) { pairs.append((entry.name, text)) }
        }
        return pairs
    }

    /// The table with that name for one text, and for no other.
    func setting(_ name: String, to text: String) -> ValueTable {
        let entry = Entry(
            name: name, value: JSONTemplate(constant: .string(text)), range: SourceRange(start: 0, end: 0),
            isSecret: false)
        return ValueTable(entries.filter { $0.name != name } + [entry], isASCII: isASCII)
    }

    /// The pairs of a value that an expression gives for the whole table.
    static func pairs(of object: JSONObject) -> [(name: String, value: String)] {
        object.flatMap { name, value in texts(of: value, isASCII: false).map { (name, $0) } }
    }

    private static func texts(of value: JSON, isASCII: Bool) -> [String] {
        (value.array ?? [value]).compactMap { text(of: $0, isASCII: isASCII) }
    }

    /// Nil for null, which leaves a value out.
    private static func text(of value: JSON, isASCII: Bool) -> String? {
        switch value {
        case .null: nil
        case .string(let text): text
        case .number(let number): number.literal
        case .bool(let flag): flag ? "true" : "false"
        case .array, .object: isASCII ? value.asciiText : value.text
        }
    }
}

extension FieldType where Value == ValueTable {
    /// An object of names and values; `checkName` says what is wrong with a name, and `checkText` with a text that is its value; nil for nothing.
    static func table(
        _ roots: AllowedRoots, isASCII: Bool = false,
        checkName: @escaping @Sendable (String) -> ValueSyntaxError? = { _ in nil },
        checkText: @escaping @Sendable (String) -> ValueSyntaxError? = { _ in nil }
    ) -> FieldType {
        let element: JSON = ["type": ["string", "number", "boolean", "null", "array", "object"]]
        return FieldType(schema: ["type": "object", "additionalProperties": element]) { place, findings in
            let entryType = FieldType<ValueTable.Entry>.entry(roots)
            guard let members = FieldType<[Named<ValueTable.Entry>]>.map(of: entryType).read(place, findings) else {
                return nil
            }
            for member in members {
                let pointer = { place.descendant(at: member.range.start).pointer }
                if let mistake = checkName(member.name) {
                    findings.report(range: member.range, pointer: pointer(), mistake.message, hint: mistake.hint)
                }
                if let text = member.value.value.constant?.string, let mistake = checkText(text) {
                    findings.report(range: member.value.range, pointer: pointer(), mistake.message, hint: mistake.hint)
                }
            }
            return ValueTable(
                members.map { member in
                    ValueTable.Entry(
                        name: member.name, value: member.value.value, range: member.value.range,
                        isSecret: member.value.isSecret)
                }, isASCII: isASCII)
        }
    }
}

extension FieldType where Value == ValueTable.Entry {
    fileprivate static func entry(_ roots: AllowedRoots) -> FieldType {
        FieldType(schema: [:]) { place, findings in
            let (template, secrets) = findings.countingSecrets {
                FieldType<JSONTemplate>.json(roots).read(place, findings)
            }
            return template.map {
                ValueTable.Entry(name: "", value: $0, range: place.node.range, isSecret: secrets > 0)
            }
        }
    }
}

extension DiagnosticCollector {
    /// Reads something and says how many references to secrets it brought.
    func countingSecrets<Value>(_ read: () -> Value) -> (value: Value, secrets: Int) {
        let before = uses.count
        let value = read()
        let secrets = uses[before...].count { isSecret($0.reference) }
        return (value, secrets)
    }
}
