public import JSONPath

/// One key that an object of the document may have: its name, the type of its value, and what people read about it.
///
/// The same table of fields reads the document, tells unknown keys apart and makes the JSON Schema: one truth.
public struct Field<Value: Sendable>: Sendable {
    /// The key in the document.
    public let name: String
    /// The name's mark, by which its absence is seen.
    let mark: UInt64
    /// The type by which its value is read, and its JSON Schema.
    public let type: FieldType<Value>
    /// One sentence for the schema and the reference.
    public let summary: String
    /// True if a document without it is refused.
    public let isRequired: Bool
    /// The default as the document would spell it; for the schema only.
    public let defaultText: JSON?
    /// Values as a document would have them: for the schema, and for the hint where a required key is missing.
    public let examples: [JSON]

    /// A key that a kind reads.
    ///
    /// - Parameters:
    ///   - defaultText: the value that stands in the schema as the one used without the key; the reader applies its
    ///     own.
    ///   - examples: values for the reference, as a document writes them.
    ///   - summary: one sentence for the reference and the schema.
    public init(
        _ name: String, _ type: FieldType<Value>, required: Bool = false, default defaultText: JSON? = nil,
        examples: [JSON] = [], _ summary: String
    ) {
        self.name = name
        mark = name.mark
        self.type = type
        self.summary = summary
        isRequired = required
        self.defaultText = defaultText
        self.examples = examples
    }
}

/// A field without its value's type, for tables.
public protocol AnyField: Sendable {
    /// The key in the document.
    var name: String { get }
    /// One sentence for the reference and the schema.
    var summary: String { get }
    /// True if a document without it is refused.
    var isRequired: Bool { get }
    /// The value that is used without the key, for the schema.
    var defaultText: JSON? { get }
    /// Values for the reference, as a document writes them.
    var examples: [JSON] { get }
    /// The JSON Schema (2020-12) of the value alone.
    var valueSchema: JSON { get }
}

extension Field: AnyField {
    /// The JSON Schema of the value.
    public var valueSchema: JSON { type.schema }
}

extension AnyField {
    /// Examples for the reference; none unless a field has some.
    public var examples: [JSON] { [] }

    /// The schema of the value together with what people read about the key.
    var annotatedSchema: JSON {
        let value = valueSchema
        guard case .object(var schema) = value else { return value }
        schema["description"] = .string(summary)
        if let value = defaultText { schema["default"] = value }
        if !examples.isEmpty { schema["examples"] = .array(examples) }
        return .object(schema)
    }

    /// The hint for when the key is missing.
    var advice: String {
        if let example = examples.first { return "add for example \"\(name)\": \(example.text)" }
        let meaning = summary.hasSuffix(".") ? String(summary.dropLast()) : summary
        return "add \"\(name)\": \(meaning.lowercasedFirst)"
    }
}

extension [any AnyField] {
    /// The schema of an object with these fields and no others; `$schema` and `x-` keys are let through.
    package var objectSchema: JSON {
        var schema: JSONObject = [
            "type": "object", "properties": .object(JSONObject(map { ($0.name, $0.annotatedSchema) })),
        ]
        let required = filter(\.isRequired).map { JSON.string($0.name) }
        if !required.isEmpty { schema["required"] = .array(required) }
        schema["patternProperties"] = ["^x-|^\\$schema$": true]
        schema["additionalProperties"] = false
        return .object(schema)
    }
}

extension String {
    /// The text for the middle of a sentence; words such as `URL` and `PEM` stay.
    var lowercasedFirst: String {
        let isName = dropFirst().first?.isUppercase == true
        return isName ? self : prefix(1).lowercased() + dropFirst()
    }
}
