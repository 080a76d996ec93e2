public import JSONPath

/// One key that an object of the document may have: its name, the type of its value, and what people read about it.
///
/// The same table of fields reads the document, tells unknown keys apart and makes the JSON Schema: one truth.
public struct Field<Value: Sendable>: Sendable {
    public let name: String
    public let type: FieldType<Value>
    /// One sentence for the schema and the reference.
    public let summary: String
    public let isRequired: Bool
    /// The default as the document would spell it; for the schema only.
    public let defaultText: JSON?

    public init(
        _ name: String, _ type: FieldType<Value>, required: Bool = false, default defaultText: JSON? = nil,
        _ summary: String
    ) {
        self.name = name
        self.type = type
        self.summary = summary
        isRequired = required
        self.defaultText = defaultText
    }
}

/// A field without its value's type, for tables.
public protocol AnyField: Sendable {
    var name: String { get }
    var summary: String { get }
    var isRequired: Bool { get }
    var defaultText: JSON? { get }
    /// The JSON Schema (2020-12) of the value alone.
    var valueSchema: JSON { get }
}

extension Field: AnyField {
    public var valueSchema: JSON { type.schema }
}

extension [any AnyField] {
    /// The schema of an object with these fields and no others; `x-` keys are let through.
    public var objectSchema: JSON {
        var properties = JSONObject()
        for field in self {
            var schema = field.valueSchema.object ?? [:]
            schema["description"] = .string(field.summary)
            if let value = field.defaultText { schema["default"] = value }
            properties[field.name] = .object(schema)
        }
        return [
            "type": "object", "properties": .object(properties),
            "required": .array(filter(\.isRequired).map { .string($0.name) }),
            "patternProperties": ["^x-": true], "additionalProperties": false,
        ]
    }
}
