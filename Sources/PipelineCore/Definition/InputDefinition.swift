public import JSONPath

/// A value that a run is given.
public struct InputDefinition: Sendable {
    /// The types of input.
    public enum Kind: String, Sendable, CaseIterable {
        /// A path; of a default relative to the document's folder.
        case file
        case string, number, boolean
        /// Any JSON value.
        case json
    }

    public let name: String
    public let kind: Kind
    /// The default; a template may stand in a string.
    public let fallback: JSONTemplate?
    public let choices: [JSON]?
    /// A regular expression that a string must match somewhere.
    public let pattern: LinearRegex?
    public let summary: String?
    /// Whether the value is kept nowhere: a resume needs it again.
    public let isSecret: Bool

    static let kindField = Field("type", FieldType<Kind>.word("type of input"), required: true, "What the value is.")
    static let fallbackField = Field("default", .json(.service), "The value when none is given.")
    static let choicesField = Field("enum", FieldType<[Place]>.array(of: FieldType<Place>.any, atLeast: 1), "The values allowed.")
    static let patternField = Field("pattern", .regularExpression, "A regular expression that the value must match.")
    static let summaryField = Field("description", .string, "What the value is for.")
    static let secretField = Field("secret", .boolean, default: false, "Whether the value is kept nowhere.")
    static let fields: [any AnyField] = [
        kindField, fallbackField, choicesField, patternField, summaryField, secretField,
    ]

    static var type: FieldType<InputDefinition> {
        .object(fields) { reader in
            guard let kind = reader.required(kindField) else { return nil }
            let input = InputDefinition(
                name: "", kind: kind, fallback: reader.optional(fallbackField),
                choices: reader.optional(choicesField)?.map(\.node.json), pattern: reader.optional(patternField),
                summary: reader.optional(summaryField), isSecret: reader.value(secretField, default: false))
            if let place = reader.place(of: "default"), !input.kind.acceptsDefault(place.node.json) {
                reader.findings.report(
                    place, "the default must be \(kind.noun), not \(place.node.json.kindName)")
            }
            return input
        }
    }

    func named(_ name: String) -> InputDefinition {
        InputDefinition(
            name: name, kind: kind, fallback: fallback, choices: choices, pattern: pattern, summary: summary,
            isSecret: isSecret)
    }
}

extension InputDefinition.Kind {
    /// What a message calls a value of this type.
    public var noun: String {
        switch self {
        case .file: "a path in a string"
        case .string: "a string"
        case .number: "a number"
        case .boolean: "true or false"
        case .json: "a JSON value"
        }
    }

    /// Whether a value of the document has this type.
    public func accepts(_ value: JSON) -> Bool {
        switch self {
        case .file, .string: value.string != nil
        case .number: value.number != nil
        case .boolean: value.bool != nil
        case .json: true
        }
    }

    fileprivate func acceptsDefault(_ value: JSON) -> Bool {
        accepts(value) || value.string?.contains("${{") == true
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
                findings.report(place, error.message, hint: error.hint)
                return nil
            }
        }
    }
}
