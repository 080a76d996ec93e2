public import HTTPTypes

/// A body that is read as it comes, such as a stream of events. It is asked for as it is (`identity`); what is coded with
/// gzip or deflate nevertheless is decoded first.
public struct StreamSink: Sendable {
    /// Called once, on the transport's thread, with the final head, before the first byte of the body. False: the body
    /// is kept in memory, as for a response that says what went wrong.
    public var decide: @Sendable (HTTPResponse) -> Bool
    /// Sees each piece of the body in order, on the transport's thread: it must be quick.
    public var onBytes: @Sendable (UnsafeRawBufferPointer) -> StreamDecision

    /// Gives the body away while it comes. Both closures run on the transport's thread and must not block.
    public init(
        decide: @escaping @Sendable (HTTPResponse) -> Bool,
        onBytes: @escaping @Sendable (UnsafeRawBufferPointer) -> StreamDecision
    ) {
        self.decide = decide
        self.onBytes = onBytes
    }
}

/// Says how it goes on after a piece of a stream.
public enum StreamDecision: Sendable, Equatable {
    case more
    /// The exchange ends here with the head as its response; the connection is closed.
    case stop
    /// The exchange fails as `bodyTooLarge`.
    case tooLarge
}

extension ExchangeOptions {
    /// True where the receiver undoes a content coding, which it sees to the end; else libcurl does, which takes one that
    /// is cut for whole. What was asked for as it is, and may go to a file as it comes, is the receiver's.
    package var leavesDecodingToReceiver: Bool {
        if case .memory = receive { !acceptsCodings } else { true }
    }
}
