/// The tree of a regular expression, the same for both syntaxes.
indirect enum RegexPattern: Sendable {
    case scalar(Unicode.Scalar)
    /// A scalar whatever its case; kept folded.
    case foldedScalar(Unicode.Scalar)
    case set(RegexScalarSet)
    case assertion(RegexAssertion)
    case sequence([RegexPattern])
    case alternatives([RegexPattern])
    case repetition(RegexPattern, RegexBounds)
    /// A capturing group, numbered from 1.
    case capture(RegexPattern, number: Int)
}

/// The bounds of how often something may stand.
struct RegexBounds: Sendable {
    var minimum: Int
    /// Nil for any number.
    var maximum: Int?
    /// True if fewer are preferred.
    var isLazy = false
}

/// A condition on a place that takes no character.
enum RegexAssertion: Sendable {
    case textStart, textEnd, lineStart, lineEnd, wordBoundary, noWordBoundary

    /// Returns whether the condition holds before the byte at the offset. Words are of ASCII letters, digits and `_`.
    @inline(__always)
    func holds(at offset: Int, in text: UnsafeBufferPointer<UInt8>) -> Bool {
        switch self {
        case .textStart: offset == 0
        case .textEnd: offset == text.count
        case .lineStart: offset == 0 || text[offset - 1] == 0x0A
        case .lineEnd: offset == text.count || text[offset] == 0x0A
        case .wordBoundary: isBoundary(at: offset, in: text)
        case .noWordBoundary: !isBoundary(at: offset, in: text)
        }
    }

    private func isBoundary(at offset: Int, in text: UnsafeBufferPointer<UInt8>) -> Bool {
        let before = offset > 0 && text[offset - 1].isASCIIWord
        let after = offset < text.count && text[offset].isASCIIWord
        return before != after
    }
}

extension UInt8 {
    fileprivate var isASCIIWord: Bool { isWordByte && self < 0x80 }
}
