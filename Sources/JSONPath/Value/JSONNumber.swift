/// A JSON number (RFC 8259, section 6) that keeps its digits: what a document wrote is what is written again.
///
/// Equality, order and hashing are numeric and exact (`1`, `1.0` and `1e0` are equal, `9007199254740993` and
/// `9007199254740992.0` are not), as RFC 9535 section 2.3.5.2.2 compares them.
public struct JSONNumber: Sendable {
    /// The digits as the document has them, e.g. `12345678901234567890` or `1.50`.
    public let literal: String

    /// A number from digits that already have JSON's grammar; the parser is the caller.
    public init(literal: String) { self.literal = literal }
    /// A number from an integer.
    public init(_ value: Int) { literal = String(value) }
    /// A number from a double, without a fraction when it is a whole number below 2^53.
    ///
    /// JSON has no infinity and no NaN: they are written as `null`, as ECMAScript does, and equal no number.
    public init(_ value: Double) {
        if !value.isFinite {
            literal = "null"
        } else if value == value.rounded(), value.magnitude < 9_007_199_254_740_992 {
            literal = String(Int64(value))
        } else {
            literal = String(describing: value)
        }
    }

    /// The nearest double; infinite beyond a double's range.
    public var double: Double { Double(literal) ?? .nan }
    /// The whole number, when it is one that fits; `1.0` and `1e3` count as whole.
    public var int: Int? { Int(literal) ?? JSONDecimal(literal)?.int }
}

extension JSONNumber: Hashable, Comparable {
    public static func == (left: JSONNumber, right: JSONNumber) -> Bool {
        if left.literal == right.literal { return true }
        if let first = Int(left.literal), let second = Int(right.literal) { return first == second }
        guard let first = JSONDecimal(left.literal), let second = JSONDecimal(right.literal) else { return false }
        return first == second
    }

    public static func < (left: JSONNumber, right: JSONNumber) -> Bool {
        if let first = Int(left.literal), let second = Int(right.literal) { return first < second }
        guard let first = JSONDecimal(left.literal), let second = JSONDecimal(right.literal) else { return false }
        return first < second
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(JSONDecimal(literal)) }
}

extension JSONNumber: CustomStringConvertible {
    public var description: String { literal }
}
