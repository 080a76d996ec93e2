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
private final class MetricsHandler: GatheringHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let page: MetricsPage
    var gatherer = RequestGatherer(bodyLimit: 1024, patience: .seconds(120))

    init(page: MetricsPage) { self.page = page }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch gatherer.read(unwrapInboundIn(data)) {
        case .tooLong: TextResponse(413, "the request is too long\n").write(to: context, closes: true)
        case .whole(let head, _): answer(head, context)
        case .began, nil: break
        }
    }

    private func answer(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        guard head.uri.prefix(while: { $0 != "?" }) == "/metrics" else {
            return write(404, "metrics are at /metrics\n", head, context)
        }
        guard head.method == .GET || head.method == .HEAD else {
            return write(405, "GET and HEAD only\n", head, context, ("Allow", "GET, HEAD"))
        }
        let accept = head.headers["Accept"].joined(separator: ",")
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.eventLoop.makeFutureWithTask { [page] in try await page.response(accept: accept) }
            .whenComplete { result in
                let (handler, context) = bound.value
                guard context.channel.isActive else { return }
                switch result {
                case .success(let (type, body)): handler.write(200, body, type: type, head, context)
                case .failure(let error): handler.write(500, "the journal can't be read: \(error)\n", head, context)
                }
            }
    }

    private func write(
        _ status: Int, _ text: String, type: String = "text/plain; charset=utf-8", _ request: HTTPRequestHead,
        _ context: ChannelHandlerContext, _ header: (name: String, value: String)? = nil
    ) {
        let headers = [("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"), header].compactMap(\.self)
        TextResponse(status, text, type: type, headers: headers)
            .write(to: context, closes: !request.isKeepAlive, isHead: request.method == .HEAD)
        gatherer.awaitRequest(context)
    }
}
