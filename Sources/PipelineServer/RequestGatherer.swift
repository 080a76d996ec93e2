package import NIOCore
package import NIOHTTP1

/// Gathers the parts of a request up to a limit, and closes the connection when the rest does not come in time:
/// trickling holds none.
package struct RequestGatherer {
    /// The progress that a part of a request brought.
    package enum Progress {
        /// A request begins.
        case began(HTTPRequestHead)
        /// Its body is longer than the limit; the rest is not waited for.
        case tooLong(HTTPRequestHead)
        /// It is whole.
        case whole(HTTPRequestHead, body: [UInt8])
    }

    private let bodyLimit: Int
    private let patience: TimeAmount
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []
    private var deadline: Scheduled<Void>?

    /// - Parameters:
    ///   - bodyLimit: the most bytes of a body.
    ///   - patience: how long a request may take to come, from the response before it.
    package init(bodyLimit: Int, patience: TimeAmount) {
        self.bodyLimit = bodyLimit
        self.patience = patience
    }

    /// Begins to wait for a request: to be called when the connection is there, and after each response.
    package mutating func awaitRequest(_ context: ChannelHandlerContext) {
        deadline?.cancel()
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: patience) { context.close(promise: nil) }
    }

    /// Ends to wait.
    package mutating func stopWaiting() { deadline?.cancel() }

    /// Takes a part in; nil when nothing is to be done about it yet.
    package mutating func read(_ part: HTTPServerRequestPart) -> Progress? {
        switch part {
        case .head(let head):
            body = []
            self.head = head
            let length = head.headers.first(name: "Content-Length").flatMap { Int($0) } ?? 0
            return length > bodyLimit ? refused(head) : .began(head)
        case .body(var buffer):
            guard let head, let bytes = buffer.readBytes(length: buffer.readableBytes) else { return nil }
            body += bytes
            return body.count > bodyLimit ? refused(head) : nil
        case .end:
            guard let head else { return nil }
            defer { (self.head, body) = (nil, []) }
            stopWaiting()
            return .whole(head, body: body)
        }
    }

    private mutating func refused(_ refused: HTTPRequestHead) -> Progress {
        (head, body) = (nil, [])
        return .tooLong(refused)
    }
}
