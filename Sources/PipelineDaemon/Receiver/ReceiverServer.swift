import NIOCore
import NIOHTTP1
import PipelineKit
import PipelineServer

/// The receiver's HTTP server: one thread, which only takes bytes; what they mean is ``CallbackHandler``'s
/// affair.
struct ReceiverServer: Sendable {
    private let listener: HTTPListener

    /// The most connections at a time: each costs a descriptor, which the daemon's own transfers need.
    static let connectionLimit = 64

    /// Listens; throws when the address can't be had.
    ///
    /// - Parameters:
    ///   - patience: how long a connection may say nothing, and an answer take.
    ///   - isKnown: tells whether a path is the address of a callback that somebody waits for: who brings one is not let
    ///     go for others.
    ///   - refused: told the path of a request whose body is too long.
    ///   - answer: answers a whole request.
    static func start(
        at address: ListenAddress, patience: Duration = .seconds(15),
        isKnown: @escaping @Sendable (String) async -> Bool,
        refused: @escaping @Sendable (String) async -> Void,
        answer: @escaping @Sendable (IncomingRequest) async -> CallbackResponse
    ) async throws -> ReceiverServer {
        let listener = try await HTTPListener.start(
            at: address, for: "callbacks", hint: "choose another address with --listen", limit: connectionLimit
        ) { channel, connections in
            let pipeline = channel.pipeline.syncOperations
            guard connections.admit(channel) else {
                return try pipeline.addHandlers(HTTPResponseEncoder(), CrowdedHandler())
            }
            // One that says nothing for so long is let go: connections are not for holding.
            try pipeline.addHandler(IdleStateHandler(allTimeout: TimeAmount(patience)))
            try pipeline.configureHTTPServerPipeline(withPipeliningAssistance: true, withErrorHandling: true)
            try pipeline.addHandler(
                ReceiverHandler(connections: connections, isKnown: isKnown, refused: refused, answer: answer))
        }
        return ReceiverServer(listener: listener)
    }

    /// The port it listens on, also when any was asked for.
    var port: Int { listener.port }

    func stop() async { await listener.stop() }
}

/// Answers a connection that is one too many, whatever it says, and closes it.
private final class CrowdedHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = HTTPServerResponsePart

    func channelActive(context: ChannelHandlerContext) {
        // What it sends is read for a moment: closing before that takes the answer back (RFC 9112, section 9.6).
        let parts = CallbackResponse.crowded.http.parts(closes: true) + [.end(nil)]
        for part in parts { context.write(wrapOutboundOut(part), promise: nil) }
        context.flush()
        context.close(mode: .output, promise: nil)
        context.eventLoop.assumeIsolated().scheduleTask(in: .seconds(1)) { context.close(promise: nil) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {}

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

/// Has requests answered, and writes the responses.
private final class ReceiverHandler: GatheringHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let connections: ConnectionLimiter
    private let isKnown: @Sendable (String) async -> Bool
    private let refused: @Sendable (String) async -> Void
    private let answer: @Sendable (IncomingRequest) async -> CallbackResponse
    /// True from a whole request until it is answered.
    private var isAnswering = false
    /// The question whom a request is for that has not come whole.
    private(set) var work: Task<Void, Never>?
    /// The head of a request whose rest was not in the same bytes: whom it is for is not known yet.
    private var unknownHead: HTTPRequestHead?
    var gatherer = RequestGatherer(bodyLimit: CallbackHandler.bodyLimit, patience: .seconds(30))

    init(
        connections: ConnectionLimiter, isKnown: @escaping @Sendable (String) async -> Bool,
        refused: @escaping @Sendable (String) async -> Void,
        answer: @escaping @Sendable (IncomingRequest) async -> CallbackResponse
    ) {
        self.connections = connections
        self.isKnown = isKnown
        self.refused = refused
        self.answer = answer
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard let progress = gatherer.read(unwrapInboundIn(data)) else { return }
        unknownHead = nil
        switch progress {
        case .began(let head): unknownHead = head
        case .tooLong(let head): refuse(head, context)
        case .whole(let head, let body): take(head, body, context)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if let head = unknownHead.take() { recognize(head, context.channel) }
        context.fireChannelReadComplete()
    }

    /// Who brings the address of a callback is not let go while the rest of it comes.
    private func recognize(_ head: HTTPRequestHead, _ channel: any Channel) {
        let path = Self.path(of: head)
        work = connections.run { [isKnown, connections] in
            if await isKnown(path) { connections.keep(channel) }
        }
    }

    private func refuse(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        let path = Self.path(of: head)
        connections.run { [refused] in await refused(path) }
        write(.tooLarge, closes: true, context)
    }

    private static func path(of head: HTTPRequestHead) -> String { String(head.uri.prefix { $0 != "?" }) }

    private func take(_ head: HTTPRequestHead, _ body: [UInt8], _ context: ChannelHandlerContext) {
        let push = IncomingRequest(
            method: head.method.rawValue, target: head.uri, headers: head.headers.map { ($0.name, $0.value) },
            body: body)
        let closes = !head.isKeepAlive
        isAnswering = true
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let (channel, loop) = (context.channel, context.eventLoop)
        connections.run { [answer, connections] in
            let answer = await answer(push)
            if answer.isForStep { connections.keep(channel) }
            loop.execute {
                let (handler, context) = bound.value
                guard context.channel.isActive, handler.isAnswering else { return }
                handler.write(answer, closes: closes, context)
            }
        }
    }

    private func write(_ answer: CallbackResponse, closes: Bool, _ context: ChannelHandlerContext) {
        isAnswering = false
        answer.http.write(to: context, closes: closes)
        gatherer.awaitRequest(context)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is IdleStateHandler.IdleStateEvent {
            // The journal may be away: a service that hears so sends it again, and the journal takes each once.
            return isAnswering ? write(.later, closes: true, context) : context.close(promise: nil)
        }
        context.fireUserInboundEventTriggered(event)
    }
}

extension CallbackResponse {
    /// The answer as HTTP has it.
    fileprivate var http: TextResponse {
        let headers = retryAfter.map { [("Retry-After", "\($0)")] } ?? []
        return TextResponse(status, text.isEmpty ? "" : text + "\n", headers: headers)
    }
}
