package import JSONPath

/// A mistake in a selector as it is written, found before anything runs.
package struct SelectorError: Error, Sendable, Hashable {
    /// The mistake in words, as a clause without a full stop.
    package let message: String
    /// A way to mend it, when that can be told.
    package let hint: String?
    /// The place where it is, in the file that the selector came from.
    package let range: SourceRange

    package init(_ message: String, hint: String? = nil, range: SourceRange) {
        self.message = message
        self.hint = hint
        self.range = range
    }
}
