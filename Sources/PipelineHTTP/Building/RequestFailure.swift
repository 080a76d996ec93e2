/// A request that can't be put together; nothing of it was sent.
public struct RequestFailure: Error, Sendable, Equatable {
    /// What is wrong, in plain English, without secrets.
    public let message: String

    public init(_ message: String) {
        self.message = message
    }
}
