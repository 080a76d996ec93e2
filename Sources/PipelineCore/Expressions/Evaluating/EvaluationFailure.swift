public import JSONPath

/// The reason why an expression has no value right now; data that the caller decides by.
public enum EvaluationFailure: Error, Sendable, Hashable {
    /// Something from outside is needed first. The caller obtains it, journals it, puts it into ``Scope/facts`` and
    /// evaluates again; each round asks for one more, so it ends.
    case missing(Fact)
    /// The secret of this name is not in the scope. A job waits for it; it does not fail.
    case missingSecret(String)
    /// A captured value repeats the secret of this name and can't be opened with what is known here. A job waits for it.
    case sealedSecret(String)
    /// The values do not fit the expression: trying again with the same values fails the same way.
    case wrong(message: String, hint: String?, range: SourceRange)

    /// One sentence for a person, without the place.
    public var message: String {
        switch self {
        case .missing(let fact): "\(fact) is not known yet"
        case .missingSecret(let name): "the secret \(name) is not set"
        case .sealedSecret(let name):
            "a captured value that repeats the secret \(name) can't be opened: the secret or the key is another one now"
        case .wrong(let message, _, _): message
        }
    }

    /// A way to mend it, when that can be told.
    public var hint: String? {
        switch self {
        case .missing: nil
        case .missingSecret(let name):
            "set PIPELINE_SECRET_\(name), or put \(name)=… into a file for --secrets-file"
        case .sealedSecret(let name):
            "give the secret \(name) the value of then, and PIPELINE_JOURNAL_KEY where the journal is a database"
        case .wrong(_, let hint, _): hint
        }
    }
}
