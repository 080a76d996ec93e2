package import JSONPath

/// A mistake in an expression or template as it is written, found before anything runs.
package struct ExpressionError: Error, Sendable, Hashable {
    /// The mistake in words, as a clause without a full stop.
    package let message: String
    /// A way to mend it, when that can be told.
    package let hint: String?
    /// The place where it is, in the file that the text came from.
    package let range: SourceRange
    /// The other mistakes of the same text, in its order; none of them has others.
    package var others: [ExpressionError] = []
    /// Everything that those expressions of the same text read that have no mistake.
    package var references: [Reference] = []

    /// The mistake and the others of its text.
    package var all: [ExpressionError] { [self] + others }

    package init(_ message: String, hint: String? = nil, range: SourceRange) {
        self.message = message
        self.hint = hint
        self.range = range
    }
}
