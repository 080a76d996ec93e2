public import JSONPath

/// A mistake in a selector as it is written, found before anything runs.
public struct SelectorError: Error, Sendable, Hashable {
    /// What is wrong, as a clause without a full stop.
    public let message: String
    /// How to mend it, when that can be told.
    public let hint: String?
    /// Where it is, in the file that the selector came from.
    public let range: SourceRange

    public init(_ message: String, hint: String? = nil, range: SourceRange) {
        self.message = message
        self.hint = hint
        self.range = range
    }
}
