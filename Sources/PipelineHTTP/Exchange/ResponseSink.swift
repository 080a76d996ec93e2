public import HTTPTypes

/// The place to which the body of a response goes.
public enum ResponseSink: Sendable {
    /// Into ``HTTPExchangeResponse/body``, up to the options' `maximumBodyBytes`.
    case memory
    case file(FileSink)
    /// To whoever reads it as it comes; nothing of it is kept.
    case stream(StreamSink)
}

/// A body that goes to a file, if its head is the right one. It is asked for as it is (`identity`); what is coded with
/// gzip or deflate nevertheless is decoded as it is written.
public struct FileSink: Sendable {
    /// Called once, on the transport's thread, with the final head (no 1xx, no redirect that is followed), before the
    /// first byte of the body; also when there is no body. A download looks at status and `Content-Range` here.
    public var decide: @Sendable (HTTPResponse) -> SinkDecision
    /// Sees each piece after it was written, in order, on the transport's thread: for a running digest.
    public var onBytes: (@Sendable (UnsafeRawBufferPointer) -> Void)?
    /// Sees each piece of a body that is coded (RFC 9110, section 8.4) as it came, before it is decoded and written.
    public var onCoded: (@Sendable (UnsafeRawBufferPointer) -> Void)?
    /// Asked before each write, on the transport's thread: the place in the file where the body has to end, which may
    /// come nearer while it is received. What goes beyond is not written and ends the exchange, with the head as its
    /// answer. Nil: all is written.
    public var end: (@Sendable () -> Int64)?

    /// Decides by the head of the response where its body goes. All closures run on the transport's thread.
    public init(
        onBytes: (@Sendable (UnsafeRawBufferPointer) -> Void)? = nil,
        onCoded: (@Sendable (UnsafeRawBufferPointer) -> Void)? = nil,
        end: (@Sendable () -> Int64)? = nil,
        decide: @escaping @Sendable (HTTPResponse) -> SinkDecision
    ) {
        self.onBytes = onBytes
        self.onCoded = onCoded
        self.end = end
        self.decide = decide
    }

    /// Writes the body of any 2xx answer to a file of its own; other answers stay in memory.
    public init(path: String) {
        self.init { $0.status.kind == .successful ? .writeToFile(path: path, offset: 0) : .memory }
    }
}

/// The decision about a body whose head is known.
public enum SinkDecision: Sendable, Equatable {
    /// Kept in memory, as for an answer that says what went wrong.
    case memory
    /// Written from `offset` on with pwrite. The descriptor stays the caller's, who closes it after the value arrived.
    case writeToDescriptor(Int32, offset: Int64)
    /// The file is made if missing, cut off at `offset`, and written from there.
    case writeToFile(path: String, offset: Int64)
    /// Read and thrown away.
    case discard
    /// The exchange ends here with the head as its answer; the connection is closed.
    case stop
}
