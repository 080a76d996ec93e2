public import JSONPath

/// How a value of the document is read, and what the JSON Schema says of it.
public struct FieldType<Value: Sendable>: Sendable {
    /// The JSON Schema (2020-12) of the value.
    public let schema: JSON
    /// Reads the value; nil after having reported what is wrong.
    public let read: @Sendable (Place, Findings) -> Value?

    public init(schema: JSON, read: @escaping @Sendable (Place, Findings) -> Value?) {
        self.schema = schema
        self.read = read
    }

    /// The same reading with another result.
    public func map<Other: Sendable>(_ transform: @escaping @Sendable (Value) -> Other) -> FieldType<Other> {
        FieldType<Other>(schema: schema) { place, findings in read(place, findings).map(transform) }
    }
}

extension FieldType where Value == Place {
    /// Any value, with its place.
    public static var any: FieldType { FieldType(schema: [:]) { place, _ in place } }
}

extension FieldType where Value == String {
    /// A string that is taken as it is.
    public static var string: FieldType {
        FieldType(schema: ["type": "string"]) { place, findings in
            if let text = place.text { return text }
            findings.report(place, "this must be a string, not \(place.node.json.kindName)")
            return nil
        }
    }

    /// A name of the given grammar.
    public static func name(_ grammar: NameGrammar) -> FieldType {
        FieldType(schema: ["type": "string", "pattern": .string(grammar.pattern)]) { place, findings in
            guard let text = string.read(place, findings) else { return nil }
            if grammar.accepts(text) { return text }
            findings.report(place, "'\(text)' is not a valid \(grammar.noun)", hint: grammar.hint)
            return nil
        }
    }
}

extension FieldType where Value == Bool {
    /// `true` or `false`.
    public static var boolean: FieldType {
        FieldType(schema: ["type": "boolean"]) { place, findings in
            if case .bool(let flag) = place.node.content { return flag }
            findings.report(place, "this must be true or false, not \(place.node.json.kindName)")
            return nil
        }
    }
}

extension FieldType where Value == Int {
    /// A whole number within bounds.
    public static func integer(_ bounds: ClosedRange<Int>) -> FieldType {
        let schema: JSON = [
            "type": "integer", "minimum": .number(JSONNumber(bounds.lowerBound)),
            "maximum": .number(JSONNumber(bounds.upperBound)),
        ]
        return FieldType(schema: schema) { place, findings in
            guard case .number(let number) = place.node.content, let value = number.int else {
                findings.report(place, "this must be a whole number, not \(place.node.json.kindName)")
                return nil
            }
            if bounds.contains(value) { return value }
            findings.report(
                place, "\(value) is out of bounds", hint: "from \(bounds.lowerBound) to \(bounds.upperBound)")
            return nil
        }
    }
}

extension FieldType where Value == Double {
    /// A number within bounds.
    public static func number(_ bounds: ClosedRange<Double>) -> FieldType {
        let schema: JSON = [
            "type": "number", "minimum": .number(JSONNumber(bounds.lowerBound)),
            "maximum": .number(JSONNumber(bounds.upperBound)),
        ]
        return FieldType(schema: schema) { place, findings in
            guard case .number(let number) = place.node.content else {
                findings.report(place, "this must be a number, not \(place.node.json.kindName)")
                return nil
            }
            if bounds.contains(number.double) { return number.double }
            findings.report(
                place, "\(number.literal) is out of bounds",
                hint: "from \(JSONNumber(bounds.lowerBound).literal) to \(JSONNumber(bounds.upperBound).literal)")
            return nil
        }
    }
}

extension FieldType where Value: RawRepresentable, Value.RawValue == String, Value: CaseIterable {
    /// One of a fixed set of words.
    public static func word(_ noun: String) -> FieldType {
        let words = Value.allCases.map(\.rawValue)
        return FieldType(schema: ["enum": .array(words.map(JSON.string))]) { place, findings in
            guard let text = FieldType<String>.string.read(place, findings) else { return nil }
            if let value = Value(rawValue: text) { return value }
            let guess = Suggestion.nearest(to: text, among: words).map { "did you mean '\($0)'? " } ?? ""
            findings.report(place, "'\(text)' is not a \(noun)", hint: guess + "one of " + words.joined(separator: ", "))
            return nil
        }
    }
}

/// The grammar of a name in the document.
public enum NameGrammar: Sendable {
    /// A pipeline's name: `[a-z][a-z0-9-]*`.
    case pipeline
    /// A stage's id: `[a-z][a-zA-Z0-9_-]*`.
    case stage
    /// `--key`: `[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?`.
    case jobKey

    public var pattern: String {
        switch self {
        case .pipeline: "^[a-z][a-z0-9-]*$"
        case .stage: "^[a-z][a-zA-Z0-9_-]*$"
        case .jobKey: "^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$"
        }
    }

    var noun: String {
        switch self {
        case .pipeline: "pipeline name"
        case .stage: "stage id"
        case .jobKey: "job key"
        }
    }

    /// How to spell one.
    public var hint: String {
        switch self {
        case .pipeline: "a lower-case letter, then lower-case letters, digits and '-'"
        case .stage: "a lower-case letter, then letters, digits, '_' and '-'"
        case .jobKey: "1 to 40 lower-case letters, digits and '-', with a letter or digit at both ends"
        }
    }

    /// Whether the text has this grammar.
    public func accepts(_ text: String) -> Bool {
        let characters = Array(text.utf8)
        guard let first = characters.first, let last = characters.last else { return false }
        let isLower = { (byte: UInt8) in (97...122).contains(byte) }
        let isDigit = { (byte: UInt8) in (48...57).contains(byte) }
        let isUpper = { (byte: UInt8) in (65...90).contains(byte) }
        switch self {
        case .pipeline: return isLower(first) && characters.allSatisfy { isLower($0) || isDigit($0) || $0 == 45 }
        case .stage:
            return isLower(first)
                && characters.allSatisfy { isLower($0) || isUpper($0) || isDigit($0) || $0 == 45 || $0 == 95 }
        case .jobKey:
            return characters.count <= 40 && first != 45 && last != 45
                && characters.allSatisfy { isLower($0) || isDigit($0) || $0 == 45 }
        }
    }
}
