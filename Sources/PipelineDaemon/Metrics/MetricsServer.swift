import NIOCore
import NIOHTTP1
import PipelineKit
import PipelineMetrics
import PipelineServer

/// Gives out metrics on a listener of its own, open to whoever reaches it, and nothing else.
struct MetricsServer: Sendable {
    private let listener: HTTPListener

    /// More than a monitoring system ever needs. One more closes the oldest: holding connections open keeps nobody out.
    private static let connectionLimit = 16

    /// Listens; throws when the address can't be had.
    static func start(at address: ListenAddress, page: MetricsPage) async throws -> MetricsServer {
        let listener = try await HTTPListener.start(
            at: address, for: "metrics", hint: "choose another address with --metrics", limit: connectionLimit
        ) { channel, connections in
            guard connections.admit(channel) else { return channel.close(promise: nil) }
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(IdleStateHandler(allTimeout: .seconds(120)))
            try pipeline.configureHTTPServerPipeline(withPipeliningAssistance: true, withErrorHandling: true)
            try pipeline.addHandler(MetricsHandler(page: page))
        }
        return MetricsServer(listener: listener)
    }

    /// The port it listens on, also when any was asked for.
    var port: Int { listener.port }

    func stop() async { await listener.stop() }
}

/// Answers `GET /metrics`.
private final class MetricsHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let page: MetricsPage
    private var head: HTTPRequestHead?

    init(page: MetricsPage) { self.page = page }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): self.head = head
        case .body: break
        case .end: if let head { answer(head, context) }
        }
    }

    private func answer(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        guard head.uri.prefix(while: { $0 != "?" }) == "/metrics" else {
            return write(.notFound, "text/plain; charset=utf-8", "metrics are at /metrics\n", head, context)
        }
        guard head.method == .GET || head.method == .HEAD else {
            return write(.methodNotAllowed, "text/plain; charset=utf-8", "GET and HEAD only\n", head, context)
        }
        let accept = head.headers["Accept"].joined(separator: ",")
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.eventLoop.makeFutureWithTask { [page] in try await page.response(accept: accept) }
            .whenComplete { result in
                let (handler, context) = bound.value
                guard context.channel.isActive else { return }
                switch result {
                case .success(let (type, body)): handler.write(.ok, type, body, head, context)
                case .failure(let error):
                    handler.write(
                        .internalServerError, "text/plain; charset=utf-8", "the journal can't be read: \(error)\n",
                        head, context)
                }
            }
    }

    private func write(
        _ status: HTTPResponseStatus, _ type: String, _ text: String, _ request: HTTPRequestHead,
        _ context: ChannelHandlerContext
    ) {
        var head = HTTPResponseHead(version: .http1_1, status: status)
        head.headers.add(name: "Content-Type", value: type)
        head.headers.add(name: "Content-Length", value: "\(text.utf8.count)")
        head.headers.add(name: "Cache-Control", value: "no-store")
        head.headers.add(name: "X-Content-Type-Options", value: "nosniff")
        if status == .methodNotAllowed { head.headers.add(name: "Allow", value: "GET, HEAD") }
        if !request.isKeepAlive { head.headers.add(name: "Connection", value: "close") }
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if request.method != .HEAD {
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: text)))), promise: nil)
        }
        let end = context.eventLoop.makePromise(of: Void.self)
        if !request.isKeepAlive { end.futureResult.assumeIsolated().whenComplete { _ in context.close(promise: nil) } }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: end)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is IdleStateHandler.IdleStateEvent { return context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
