import JSONPath

/// One schema, read: what it asks of a value.
final class SchemaRule: Sendable {
    /// The schema `false`.
    let refusesAll: Bool
    let types: [String]
    let choices: [JSON]?
    let required: [String]
    let properties: [(name: String, rule: SchemaRule)]
    /// `additionalProperties`
    let others: SchemaRule?
    let items: SchemaRule?
    let bounds: SchemaBounds
    let pattern: LinearRegex?
    let all: [SchemaRule]
    let any: [SchemaRule]
    let one: [SchemaRule]
    /// The text that people read about it.
    let summary: String?

    init(refusesAll: Bool) {
        self.refusesAll = refusesAll
        types = []
        choices = nil
        required = []
        properties = []
        others = nil
        items = nil
        bounds = SchemaBounds([:])
        pattern = nil
        all = []
        any = []
        one = []
        summary = nil
    }

    init(_ schema: JSONObject, at pointer: String, in reading: inout SchemaReading) {
        refusesAll = false
        types = reading.types(schema["type"], at: pointer)
        choices = schema["const"].map { [$0] } ?? schema["enum"]?.array
        required = schema["required"]?.array?.compactMap(\.string) ?? []
        properties = reading.properties(schema["properties"], at: pointer)
        others = schema["additionalProperties"].map { reading.rule($0, at: "\(pointer)/additionalProperties") }
        items = schema["items"].map { reading.rule($0, at: "\(pointer)/items") }
        bounds = SchemaBounds(schema)
        pattern = reading.pattern(schema["pattern"], at: pointer)
        all = reading.list(schema, "allOf", at: pointer)
        any = reading.list(schema, "anyOf", at: pointer)
        one = reading.list(schema, "oneOf", at: pointer)
        summary = schema["description"]?.string
    }

    /// Returns whether a value of that kind could fit.
    func takes(_ node: JSONNode) -> Bool { types.isEmpty || types.contains { SchemaCheck.isOf($0, node) } }
}

/// The bounds of a schema on numbers, texts and arrays.
struct SchemaBounds: Sendable {
    let minimum: JSONNumber?
    let maximum: JSONNumber?
    let above: JSONNumber?
    let below: JSONNumber?
    let minLength: Int?
    let maxLength: Int?
    let minItems: Int?
    let maxItems: Int?

    init(_ schema: JSONObject) {
        minimum = schema["minimum"]?.number
        maximum = schema["maximum"]?.number
        above = schema["exclusiveMinimum"]?.number
        below = schema["exclusiveMaximum"]?.number
        minLength = schema["minLength"]?.number?.int
        maxLength = schema["maxLength"]?.number?.int
        minItems = schema["minItems"]?.number?.int
        maxItems = schema["maxItems"]?.number?.int
    }
}

/// Reads a schema and gathers what is wrong with it.
struct SchemaReading {
    private(set) var problems: [String] = []
    private static let known: Set<String> = ["null", "boolean", "number", "integer", "string", "array", "object"]

    mutating func rule(_ json: JSON, at pointer: String) -> SchemaRule {
        switch json {
        case .bool(let flag): return SchemaRule(refusesAll: !flag)
        case .object(let schema):
            for name in ["$ref", "$dynamicRef", "if", "not", "dependentSchemas", "patternProperties"]
            where schema[name] != nil { problems.append("\(shown(pointer)): '\(name)' is ignored") }
            return SchemaRule(schema, at: pointer, in: &self)
        default:
            problems.append("\(shown(pointer)): a schema is an object or a boolean, not \(json.kindName)")
            return SchemaRule(refusesAll: false)
        }
    }

    mutating func types(_ json: JSON?, at pointer: String) -> [String] {
        guard let json else { return [] }
        let names = json.string.map { [$0] } ?? json.array?.compactMap(\.string) ?? []
        let wrong = names.filter { !Self.known.contains($0) }
        if names.isEmpty || !wrong.isEmpty {
            problems.append("\(shown(pointer)): 'type' has no such type: \(json.text)")
            return []
        }
        return names
    }

    mutating func properties(_ json: JSON?, at pointer: String) -> [(name: String, rule: SchemaRule)] {
        (json?.object ?? [:]).map { name, schema in
            (name, rule(schema, at: "\(pointer)/properties/\(SourceLocation.escaped(name))"))
        }
    }

    mutating func list(_ schema: JSONObject, _ key: String, at pointer: String) -> [SchemaRule] {
        (schema[key]?.array ?? []).enumerated().map { rule($0.element, at: "\(pointer)/\(key)/\($0.offset)") }
    }

    mutating func pattern(_ json: JSON?, at pointer: String) -> LinearRegex? {
        guard let text = json?.string else { return nil }
        do throws(LinearRegexError) {
            return try LinearRegex(text)
        } catch {
            problems.append("\(shown(pointer)): the pattern can't be read and is ignored: \(error)")
            return nil
        }
    }

    private func shown(_ pointer: String) -> String { pointer.isEmpty ? "the schema" : pointer }
}
