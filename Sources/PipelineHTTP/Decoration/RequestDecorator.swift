/// Changes the description of a request; never sends.
///
/// The builder calls it, in the order of the phases and inside one from the innermost out: what an inner decorator or
/// the request itself has said is already there, and wins.
public protocol RequestDecorator: Sendable {
    /// The phase in which it comes among other decorators.
    var phase: DecorationPhase { get }
    /// Changes the request just before it is sent, once for each attempt; called on no particular thread.
    ///
    /// - Throws: when the request can't be made so; a failure that `isRetryable` is tried again as the document says.
    func decorate(_ request: inout RequestDescription, in context: DecorationContext) async throws(RequestFailure)
}

/// A decorator that says who asks.
public protocol CredentialDecorator: RequestDecorator {
    /// Tells accounts apart at one service, and holds over renewals of a token. It is a secret: to be hashed, never shown.
    var account: String { get }
    /// The token that it says a request needs; nil when it puts in by itself what it has.
    var tokenSource: TokenSource? { get }
}

extension CredentialDecorator {
    public var tokenSource: TokenSource? { nil }
}
