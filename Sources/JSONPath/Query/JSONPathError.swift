/// A text that is not a JSONPath query.
public struct JSONPathError: Error, Sendable, Hashable {
    /// The wrong place, in UTF-8 bytes from the query's start.
    public let offset: Int
    /// The mistake in words, without the place.
    public let message: String
    /// A way to mend it, when there is something to say.
    public let hint: String?

    /// Says what is wrong with a query, at an offset of UTF-8 bytes from its beginning.
    public init(offset: Int, message: String, hint: String? = nil) {
        self.offset = offset
        self.message = message
        self.hint = hint
    }
}

extension JSONPathError: CustomStringConvertible {
    public var description: String {
        "\(message) (at byte \(offset) of the query)" + (hint.map { "; \($0)" } ?? "")
    }
}

/// A query that could not be evaluated on a document.
public enum JSONPathEvaluationError: Error, Sendable, Hashable {
    /// The query's work on this document exceeded the budget, given as the number of steps.
    case evaluationTooLarge(budget: Int)
    /// A regular expression that came out of the document is too large to be run.
    case patternTooLarge

    /// The event in words.
    public var message: String {
        switch self {
        case .evaluationTooLarge(let budget): "the query needs more than \(budget) steps on this document"
        case .patternTooLarge: "a regular expression in the document is too large to be run"
        }
    }

    /// Advice on what can be done about it.
    public var hint: String {
        switch self {
        case .evaluationTooLarge: "name the way to the values instead of using “..” several times"
        case .patternTooLarge: "use smaller bounds, or write the expression into the query"
        }
    }
}

extension JSONPathEvaluationError: CustomStringConvertible {
    public var description: String { "\(message); \(hint)" }
}
