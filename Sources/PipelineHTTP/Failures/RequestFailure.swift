/// A request that can't be put together; nothing of it was sent.
public struct RequestFailure: Error, Sendable, Equatable {
    /// The mistake in words, in plain English, without secrets.
    public let message: String
    /// True if the same request may fare better later, for example when what a decorator asks is away.
    public let isRetryable: Bool

    /// Says why a request can't be made.
    public init(_ message: String, isRetryable: Bool = false) {
        self.message = message
        self.isRetryable = isRetryable
    }
}
