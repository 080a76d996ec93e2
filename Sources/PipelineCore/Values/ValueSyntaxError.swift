/// A duration, size, rate, percentage or time that a person wrote and that cannot be read.
///
/// It knows no place; whoever reads the document adds file, line and column.
public struct ValueSyntaxError: Error, Sendable, Hashable {
    /// The mistake in words, as a clause without a full stop.
    public let message: String
    /// A way to mend it, when that can be told.
    public let hint: String?

    /// Says what is wrong with a value, and how to mend it.
    public init(_ message: String, hint: String? = nil) {
        self.message = message
        self.hint = hint
    }
}
