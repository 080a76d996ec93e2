/// A text that is not JSON: where, what is wrong, and how to mend it.
public struct JSONSyntaxError: Error, Sendable, Hashable {
    /// The bytes that are wrong; empty where something is missing.
    public let range: SourceRange
    /// The mistake in words, without the place: `a comma is missing here`.
    public let message: String
    /// A way to mend it, when there is something to say.
    public let hint: String?

    /// The first wrong byte, counted from the start of the text.
    public var offset: Int { range.start }

    /// Says what is wrong with a text, and where; `hint` is how to mend it.
    public init(range: SourceRange, message: String, hint: String? = nil) {
        self.range = range
        self.message = message
        self.hint = hint
    }

    init(_ message: String, at offset: Int, length: Int = 1, hint: String? = nil) {
        self.init(range: SourceRange(start: offset, end: offset + length), message: message, hint: hint)
    }
}

extension JSONSyntaxError: CustomStringConvertible {
    public var description: String {
        "\(message) (at byte \(offset))" + (hint.map { "; \($0)" } ?? "")
    }
}

/// All that is wrong with a text, in the order of the places; never empty.
public struct JSONSyntaxErrors: Error, Sendable, Hashable {
    /// The mistakes, the first one of the text first.
    public let errors: [JSONSyntaxError]

    /// Collects the mistakes of one text, in the order in which they stand there.
    public init(errors: [JSONSyntaxError]) { self.errors = errors }
}
