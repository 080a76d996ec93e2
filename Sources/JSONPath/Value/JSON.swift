/// A JSON value (RFC 8259) that keeps what a document said: the order of members and the digits of numbers.
///
/// It is a plain value without places; ``JSONNode`` is the same tree with the places of a source file.
public enum JSON: Sendable {
    case null
    case bool(Bool)
    case number(JSONNumber)
    case string(String)
    case array([JSON])
    case object(JSONObject)

    /// The deepest nesting of arrays and objects: the parsers refuse more, since a tree is freed by recursion.
    public static let deepestNesting = 512

    /// The deepest nesting of what a program keeps itself, which has values of that depth inside of its own.
    package static let deepestKept = deepestNesting + 128
}

extension JSON: Hashable {
    /// Returns whether two values are equal: numbers by value, strings scalar by scalar (no Unicode normalization, as
    /// RFC 8259 section 8.3 and RFC 9535 section 2.3.5.2.2 compare them), objects whatever the order of members.
    public static func == (left: JSON, right: JSON) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.number(let left), .number(let right)): left == right
        case (.string(let left), .string(let right)): left.hasSameScalars(as: right)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let flag): hasher.combine(flag)
        case .number(let number): hasher.combine(number)
        case .string(let text): hasher.combine(text.scalarHash)
        case .array(let elements): hasher.combine(elements)
        case .object(let members): hasher.combine(members)
        }
    }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int) { self = .number(JSONNumber(value)) }
    public init(floatLiteral value: Double) { self = .number(JSONNumber(value)) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(arrayLiteral elements: JSON...) { self = .array(elements) }
    public init(dictionaryLiteral elements: (String, JSON)...) { self = .object(JSONObject(elements)) }
    public init(nilLiteral: ()) { self = .null }
}

extension JSON {
    /// The text of a string value; nil for every other kind.
    public var string: String? { if case .string(let text) = self { text } else { nil } }
    /// The number; nil for every other kind.
    public var number: JSONNumber? { if case .number(let number) = self { number } else { nil } }
    /// The truth value; nil for every other kind.
    public var bool: Bool? { if case .bool(let flag) = self { flag } else { nil } }
    /// The elements of an array; nil for every other kind.
    public var array: [JSON]? { if case .array(let elements) = self { elements } else { nil } }
    /// The members of an object; nil for every other kind.
    public var object: JSONObject? { if case .object(let members) = self { members } else { nil } }
    /// True if this is `null`.
    public var isNull: Bool { if case .null = self { true } else { false } }
    /// The member of that name; nil when there is none or this is not an object.
    public subscript(name: String) -> JSON? { object?[name] }
    /// The words by which a message calls this kind of value: `a string`, `an array`, `null`.
    public var kindName: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
