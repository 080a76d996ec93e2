import NIOCore
import NIOHTTP1
import NIOPosix
import PipelineCore

/// The receiver's HTTP server: one thread, which only takes bytes; what they mean is the desk's affair.
struct ReceiverServer: Sendable {
    private let group: MultiThreadedEventLoopGroup
    private let channel: any Channel

    /// Listens; throws when the address can't be had.
    static func start(
        at address: ListenAddress, answer: @escaping @Sendable (PushRequest) async -> PushAnswer
    ) async throws -> ReceiverServer {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        do {
            let channel = try await ServerBootstrap(group: group)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .serverChannelOption(.backlog, value: 128)
                .childChannelOption(.maxMessagesPerRead, value: 1)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let pipeline = channel.pipeline.syncOperations
                        // One that says nothing for so long is let go: connections are not for holding.
                        try pipeline.addHandler(IdleStateHandler(allTimeout: .seconds(15)))
                        try pipeline.configureHTTPServerPipeline(
                            withPipeliningAssistance: true, withErrorHandling: true)
                        try pipeline.addHandler(ReceiverHandler(answer: answer))
                    }
                }
                .bind(host: address.host, port: address.port).get()
            return ReceiverServer(group: group, channel: channel)
        } catch {
            try? await group.shutdownGracefully()
            throw StepFailure(
                "cannot listen for pushes on \(address.host):\(address.port): \(error)",
                hint: "choose another address with --listen")
        }
    }

    /// The port it listens on, also when any was asked for.
    var port: Int { channel.localAddress?.port ?? 0 }

    func stop() async {
        try? await channel.close().get()
        try? await group.shutdownGracefully()
    }
}

/// Gathers a request up to the limit, has it answered, and writes the answer.
private final class ReceiverHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let answer: @Sendable (PushRequest) async -> PushAnswer
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []
    private var isRefused = false

    init(answer: @escaping @Sendable (PushRequest) async -> PushAnswer) { self.answer = answer }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            body = []
            isRefused = false
            let length = head.headers.first(name: "Content-Length").flatMap { Int($0) } ?? 0
            if length > PushDesk.bodyLimit { refuse(context) }
        case .body(var buffer):
            guard !isRefused, let bytes = buffer.readBytes(length: buffer.readableBytes) else { return }
            body += bytes
            if body.count > PushDesk.bodyLimit { refuse(context) }
        case .end: if !isRefused, let head { take(head, context) }
        }
    }

    /// The rest of a body that is too long is not waited for.
    private func refuse(_ context: ChannelHandlerContext) {
        isRefused = true
        body = []
        write(.tooLarge, closes: true, context)
    }

    private func take(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        let push = PushRequest(
            method: head.method.rawValue, target: head.uri, headers: head.headers.map { ($0.name, $0.value) },
            body: body)
        body = []
        let closes = !head.isKeepAlive
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.eventLoop.makeFutureWithTask { [answer] in await answer(push) }.whenSuccess { answer in
            let (handler, context) = bound.value
            guard context.channel.isActive else { return }
            handler.write(answer, closes: closes, context)
        }
    }

    private func write(_ answer: PushAnswer, closes: Bool, _ context: ChannelHandlerContext) {
        var head = HTTPResponseHead(version: .http1_1, status: HTTPResponseStatus(statusCode: answer.status))
        let text = answer.text.isEmpty ? "" : answer.text + "\n"
        if answer.status != 204 { head.headers.add(name: "Content-Length", value: "\(text.utf8.count)") }
        if !text.isEmpty { head.headers.add(name: "Content-Type", value: "text/plain; charset=utf-8") }
        if let seconds = answer.retryAfter { head.headers.add(name: "Retry-After", value: "\(seconds)") }
        if closes { head.headers.add(name: "Connection", value: "close") }
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if !text.isEmpty { context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: text)))), promise: nil) }
        let end = context.eventLoop.makePromise(of: Void.self)
        if closes { end.futureResult.assumeIsolated().whenComplete { _ in context.close(promise: nil) } }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: end)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is IdleStateHandler.IdleStateEvent { return context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
