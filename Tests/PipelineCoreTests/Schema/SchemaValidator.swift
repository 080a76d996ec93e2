import JSONPath
import PipelineCore

/// Checks a value against a JSON Schema, as far as the schema uses the vocabulary; an unknown keyword is a mistake of
/// the schema, so that none is passed over silently.
struct SchemaValidator {
    static let sample = SchemaValidator(PipelineSchema(catalogue: SampleKinds.catalogue).json)

    private let root: JSON
    private static let annotations: Set<String> = [
        "$schema", "$id", "$defs", "title", "description", "default", "examples", "format", "then",
    ]

    init(_ root: JSON) { self.root = root }

    /// Returns what is wrong with the value, each with its pointer; empty when it is valid.
    func mistakes(of value: JSON) -> [String] { mistakes(of: value, root, at: "") }

    private func mistakes(of value: JSON, _ schema: JSON, at pointer: String) -> [String] {
        if case .bool(let isAllowed) = schema { return isAllowed ? [] : ["\(pointer): nothing may stand here"] }
        guard case .object(let keywords) = schema else { return ["\(pointer): the schema is no schema"] }
        return keywords.flatMap { check(value, $0.name, $0.value, keywords, at: pointer) }
    }

    private func isValid(_ value: JSON, _ schema: JSON) -> Bool { mistakes(of: value, schema, at: "").isEmpty }

    private func check(_ value: JSON, _ name: String, _ rule: JSON, _ all: JSONObject, at pointer: String) -> [String] {
        let isMet: Bool
        switch name {
        case "$ref": return mistakes(of: value, target(rule), at: pointer)
        case "allOf": return (rule.array ?? []).flatMap { mistakes(of: value, $0, at: pointer) }
        case "if": return isValid(value, rule) ? mistakes(of: value, all["then"] ?? true, at: pointer) : []
        case "properties", "patternProperties", "additionalProperties":
            return name == firstOf(all) ? members(of: value, all, at: pointer) : []
        case "items":
            return (value.array ?? []).enumerated().flatMap { mistakes(of: $1, rule, at: "\(pointer)/\($0)") }
        case "type": isMet = (rule.array ?? [rule]).contains { matches(value, $0.string ?? "") }
        case "enum": isMet = (rule.array ?? []).contains(value)
        case "const": isMet = rule == value
        case "anyOf": isMet = (rule.array ?? []).contains { isValid(value, $0) }
        case "oneOf": isMet = (rule.array ?? []).filter { isValid(value, $0) }.count == 1
        case "not": isMet = !isValid(value, rule)
        case "required":
            isMet =
                value.object.map { object in (rule.array ?? []).allSatisfy { object[$0.string ?? ""] != nil } } ?? true
        case "minItems": isMet = value.array.map { $0.count >= rule.number?.int ?? 0 } ?? true
        case "minProperties": isMet = value.object.map { $0.count >= rule.number?.int ?? 0 } ?? true
        case "maxProperties": isMet = value.object.map { $0.count <= rule.number?.int ?? 0 } ?? true
        case "minimum": isMet = value.number.map { number in rule.number.map { number >= $0 } ?? false } ?? true
        case "maximum": isMet = value.number.map { number in rule.number.map { number <= $0 } ?? false } ?? true
        case "minLength": isMet = value.string.map { $0.unicodeScalars.count >= rule.number?.int ?? 0 } ?? true
        case "pattern": isMet = value.string.map { hasMatch(rule.string ?? "", in: $0) } ?? true
        default: isMet = Self.annotations.contains(name)
        }
        return isMet ? [] : ["\(pointer): \(name)"]
    }

    private func firstOf(_ all: JSONObject) -> String? {
        ["properties", "patternProperties", "additionalProperties"].first { all[$0] != nil }
    }

    private func members(of value: JSON, _ all: JSONObject, at pointer: String) -> [String] {
        (value.object ?? [:]).flatMap { name, member -> [String] in
            var schemas: [JSON] = []
            if let schema = all["properties"]?[name] { schemas.append(schema) }
            for (pattern, schema) in all["patternProperties"]?.object ?? [:] where hasMatch(pattern, in: name) {
                schemas.append(schema)
            }
            if schemas.isEmpty, let rest = all["additionalProperties"] { schemas.append(rest) }
            return schemas.flatMap { mistakes(of: member, $0, at: "\(pointer)/\(name)") }
        }
    }

    private func target(_ reference: JSON) -> JSON {
        let name = (reference.string ?? "").split(separator: "/").last.map(String.init) ?? ""
        return root["$defs"]?[name] ?? false
    }

    private func matches(_ value: JSON, _ type: String) -> Bool {
        switch type {
        case "integer": value.number?.int != nil
        case "number": value.number != nil
        case "string": value.string != nil
        case "boolean": value.bool != nil
        case "array": value.array != nil
        case "object": value.object != nil
        default: value.isNull
        }
    }

    private func hasMatch(_ pattern: String, in text: String) -> Bool {
        (try? LinearRegex(pattern))?.firstMatch(in: text) != nil
    }
}
