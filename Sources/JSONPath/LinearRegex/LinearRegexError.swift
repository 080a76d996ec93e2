/// A regular expression that can't be used.
public struct LinearRegexError: Error, Sendable, Hashable {
    /// The wrong place, in UTF-8 bytes from the pattern's start.
    public let offset: Int
    /// The mistake in words, without the place.
    public let message: String
    /// A way to mend it, when there is something to say.
    public let hint: String?

    /// Says what is wrong with a pattern, at an offset of UTF-8 bytes from its beginning.
    public init(offset: Int, message: String, hint: String? = nil) {
        self.offset = offset
        self.message = message
        self.hint = hint
    }
}

extension LinearRegexError: CustomStringConvertible {
    public var description: String {
        "\(message) (at byte \(offset) of the regular expression)" + (hint.map { "; \($0)" } ?? "")
    }
}
