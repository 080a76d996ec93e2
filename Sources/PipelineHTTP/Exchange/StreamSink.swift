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
    /// The content codings in which the body is asked for (RFC 9110, section 12.5.3): those that ``ContentDecoder``
    /// undoes, which sees them to their end. libcurl knows others, and takes one that is cut for whole.
    var codingsAskedFor: String {
        if case .memory = receive, acceptsCodings { "gzip, deflate" } else { "identity" }
    }
}
