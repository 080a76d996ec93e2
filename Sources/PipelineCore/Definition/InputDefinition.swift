public import JSONPath

/// A value that a run is given.
package struct InputDefinition: Sendable {
    /// The types of input.
    package enum Kind: String, Sendable, CaseIterable {
        /// A path; of a default relative to the document's folder.
        case file
        /// An array of paths: of single files, of a folder's, or of those that a pattern such as `in/*.jpg` finds.
        case files
        /// An absolute http or https URL: a text in a request; where a file is needed it is fetched first.
        case url
        case string, number, boolean
        /// Any JSON value.
        case json
    }

    package let name: String
    package let kind: Kind
    /// The default; a template may stand in a string.
    package let fallback: JSONTemplate?
    package let choices: [JSON]?
    /// A regular expression that a string must match somewhere.
    package let pattern: LinearRegex?
    package let summary: String?
    /// True if the value is kept nowhere: a resume needs it again.
    package let isSecret: Bool

    static let kindField = Field(
        "type", FieldType<Kind>.word("type of input"), required: true, examples: ["string"],
        "What the value is; files is an array of paths: -i repeated, a folder, or a pattern such as in/*.jpg. A url is sent on as text; where a file is needed it is fetched first."
    )
    static let fallbackField = Field(
        "default", .json(.beforeInputs, optionalMembers: false), "The value when none is given.")
    static let choicesField = Field(
        "enum", FieldType<[SourceLocation]>.array(of: FieldType<SourceLocation>.any, atLeast: 1), "The values allowed.")
    static let patternField = Field("pattern", .regularExpression, "A regular expression that the value must match.")
    static let summaryField = Field("description", .string, "What the value is for.")
    static let secretField = Field("secret", .boolean, default: false, "Whether the value is kept nowhere.")
    static let fields: [any AnyField] = [
        kindField, fallbackField, choicesField, patternField, summaryField, secretField,
    ]

    static var type: FieldType<InputDefinition> {
        let object = FieldType.object(fields, read)
        return FieldType(schema: schema, read: object.read)
    }

    /// The table's schema, and that defaults and choices have the input's type.
    private static var schema: JSON {
        var schema = fields.objectSchema.object ?? [:]
        schema["allOf"] = .array(
            Kind.allCases.filter { $0 != .json }.map { kind in
                [
                    "if": ["properties": ["type": ["const": .string(kind.rawValue)]], "required": ["type"]],
                    "then": ["properties": ["default": kind.defaultSchema, "enum": ["items": kind.valueSchema]]],
                ]
            })
        return .object(schema)
    }

    private static func read(_ reader: ObjectReader) -> InputDefinition? {
        let kind = reader.required(kindField)
        let fallback = reader.optional(fallbackField)
        let choices = reader.optional(choicesField)
        let pattern = reader.optional(patternField)
        let summary = reader.optional(summaryField)
        let isSecret = reader.value(secretField, default: false)
        guard let kind else { return nil }
        let input = InputDefinition(
            name: "", kind: kind, fallback: fallback, choices: choices?.map(\.node.json), pattern: pattern,
            summary: summary, isSecret: isSecret)
        input.check(reader, choices: choices ?? [])
        return input
    }

    func named(_ name: String) -> InputDefinition {
        InputDefinition(
            name: name, kind: kind, fallback: fallback, choices: choices, pattern: pattern, summary: summary,
            isSecret: isSecret)
    }
}

extension InputDefinition {
    /// Checks what its keys say of each other.
    private func check(_ reader: ObjectReader, choices places: [SourceLocation]) {
        for place in places where !kind.accepts(place.node.json) {
            reader.findings.report(
                place, "each value of this 'enum' must be \(kind.noun), not \(place.node.json.kindName)",
                hint: "the input's type is \"\(kind.rawValue)\"")
        }
        if let place = reader.place(of: "pattern"), ![.string, .file, .url].contains(kind) {
            reader.findings.report(
                place, "a 'pattern' is for inputs of type string, file or url, and this one's is \(kind.rawValue)",
                hint: "take it out")
        }
        if let place = reader.place(of: "default") { checkFallback(at: place, reader.findings) }
    }

    private func checkFallback(at place: SourceLocation, _ findings: DiagnosticCollector) {
        guard kind.acceptsDefault(place.node.json) else {
            let found = place.text.map { "'\($0.prefix(80))'" } ?? place.node.json.kindName
            findings.report(
                place, "the default must be \(kind.noun), not \(kind == .url ? found : place.node.json.kindName)",
                hint: "the input's type is \"\(kind.rawValue)\"")
            return
        }
        guard let value = fallback?.constant else { return }
        if let choices, !choices.contains(value) {
            findings.report(
                place, "the default is not one of the values of 'enum'",
                hint: "there are " + choices.map(\.text).joined(separator: ", "))
        }
        if let pattern, let text = value.string, pattern.firstMatch(in: text) == nil {
            findings.report(
                place, "the default does not match the pattern", hint: "the pattern is \(pattern.pattern)")
        }
    }
}

extension InputDefinition.Kind {
    /// The words by which a message calls a value of this type.
    package var noun: String {
        switch self {
        case .file: "a path in a string"
        case .files: "an array of paths, or one in a string"
        case .url: "an http or https URL in a string"
        case .string: "a string"
        case .number: "a number"
        case .boolean: "true or false"
        case .json: "a JSON value"
        }
    }

    /// The JSON Schema of a value of this type.
    fileprivate var valueSchema: JSON {
        switch self {
        case .file, .string: ["type": "string"]
        case .files: ["anyOf": [["type": "string"], ["type": "array", "items": ["type": "string"]]]]
        case .url: ["type": "string", "pattern": "^[Hh][Tt][Tt][Pp][Ss]?://"]
        case .number: ["type": "number"]
        case .boolean: ["type": "boolean"]
        case .json: true
        }
    }

    fileprivate var defaultSchema: JSON {
        self == .file || self == .string || self == .files ? valueSchema : ["anyOf": [valueSchema, .anyTemplate]]
    }

    /// Returns whether a value of the document has this type.
    package func accepts(_ value: JSON) -> Bool {
        switch self {
        case .file, .string: value.string != nil
        case .files: value.string != nil || value.array?.allSatisfy { $0.string != nil } == true
        case .url: value.string.map(URLReference.isWebURL) == true
        case .number: value.number != nil
        case .boolean: value.bool != nil
        case .json: true
        }
    }

    fileprivate func acceptsDefault(_ value: JSON) -> Bool {
        accepts(value) || value.string.map(TemplateReader.hasExpression) == true
    }
}

extension FieldType where Value == LinearRegex {
    /// A regular expression.
    public static var regularExpression: FieldType {
        FieldType(schema: ["type": "string", "format": "regex"]) { place, findings in
            guard let text = FieldType<String>.string.read(place, findings) else { return nil }
            do throws(LinearRegexError) {
                return try LinearRegex(text)
            } catch {
                let origin = TextOrigin(literal: place.node.range, in: findings.source)
                let start = min(error.offset, text.utf8.count)
                let range = SourceRange(start: start, end: min(start + 1, text.utf8.count))
                findings.report(
                    range: origin.source(of: range), pointer: place.pointer, error.message, hint: error.hint)
                return nil
            }
        }
    }
}
