/// Which submit is unknown, as `stage.unknown` events tell.
public struct UnknownSubmit: Sendable, Hashable {
    /// The idempotency key that was sent, or would tell the submit apart.
    public let key: String
    /// The time when the first byte may have gone out.
    public let since: Timestamp
    /// The reason why it could not be settled, one sentence.
    public let reason: String

    /// A submit of which nobody knows whether it arrived.
    public init(key: String, since: Timestamp, reason: String) {
        self.key = key
        self.since = since
        self.reason = reason
    }
}
