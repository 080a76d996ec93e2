import JSONPath
import PipelineCore

/// Names and values of a `query`, a `form`, `headers` or `fields` as the document has them: null leaves a value out,
/// an array repeats its name.
struct ValueTable: Sendable {
    /// One name with the template of its value.
    struct Entry: Sendable {
        let name: String
        let value: JSONTemplate
        /// Where the value stands in the document.
        let range: SourceRange
        /// Whether the value is made from a secret.
        let isSecret: Bool
    }

    let entries: [Entry]

    init(_ entries: [Entry] = []) { self.entries = entries }

    /// The names whose values are made from secrets.
    var secretNames: [String] { entries.filter(\.isSecret).map(\.name) }

    /// Names and texts in the document's order.
    func pairs(in scope: Scope) throws(EvaluationFailure) -> [(name: String, value: String)] {
        var pairs: [(name: String, value: String)] = []
        for entry in entries {
            let value = try entry.value.evaluate(in: scope)
            for text in try Self.texts(of: value, of: entry) { pairs.append((entry.name, text)) }
        }
        return pairs
    }

    /// The pairs of a value that an expression gives for the whole table.
    static func pairs(of object: JSONObject, at range: SourceRange) throws(EvaluationFailure) -> [(
        name: String, value: String
    )] {
        var pairs: [(name: String, value: String)] = []
        for (name, value) in object {
            let entry = Entry(name: name, value: JSONTemplate(constant: value), range: range, isSecret: false)
            for text in try texts(of: value, of: entry) { pairs.append((name, text)) }
        }
        return pairs
    }

    private static func texts(of value: JSON, of entry: Entry) throws(EvaluationFailure) -> [String] {
        guard case .array(let elements) = value else { return try text(of: value, of: entry).map { [$0] } ?? [] }
        var texts: [String] = []
        for element in elements {
            if let text = try text(of: element, of: entry) { texts.append(text) }
        }
        return texts
    }

    private static func text(of value: JSON, of entry: Entry) throws(EvaluationFailure) -> String? {
        switch value {
        case .null: return nil
        case .string(let text): return text
        case .number(let number): return number.literal
        case .bool(let flag): return flag ? "true" : "false"
        case .array, .object:
            throw .wrong(
                message: "the value of '\(entry.name)' is \(value.kindName) and cannot be put into a text",
                hint: "json(…) makes it a text", range: entry.range)
        }
    }
}

extension FieldType where Value == ValueTable {
    /// An object of names and values; `checkName` says what is wrong with a name, nil for nothing.
    static func table(
        _ roots: AllowedRoots, checkName: @escaping @Sendable (String) -> String? = { _ in nil }
    ) -> FieldType {
        let element: JSON = ["type": ["string", "number", "boolean", "null", "array"]]
        return FieldType(schema: ["type": "object", "additionalProperties": element]) { place, findings in
            let entryType = FieldType<ValueTable.Entry>.entry(roots)
            guard let members = FieldType<[Named<ValueTable.Entry>]>.map(of: entryType).read(place, findings) else {
                return nil
            }
            for member in members {
                if let mistake = checkName(member.name) {
                    findings.report(range: member.range, pointer: place.pointer, mistake)
                }
            }
            return ValueTable(
                members.map { member in
                    ValueTable.Entry(
                        name: member.name, value: member.value.value, range: member.value.range,
                        isSecret: member.value.isSecret)
                })
        }
    }
}

extension FieldType where Value == ValueTable.Entry {
    fileprivate static func entry(_ roots: AllowedRoots) -> FieldType {
        FieldType(schema: [:]) { place, findings in
            if place.node.content.isObject {
                findings.report(
                    place, "this must be a text, a number, true or false, null, or an array of them, not an object",
                    hint: "\"${{ json(…) }}\" makes a text of an object")
                return nil
            }
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
        let secrets = uses[before...].count { use in if case .secret = use.reference.root { true } else { false } }
        return (value, secrets)
    }
}
