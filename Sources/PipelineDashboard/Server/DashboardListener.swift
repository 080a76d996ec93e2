import NIOCore
import NIOHTTP1
package import PipelineKit
package import PipelineServer

/// A listener for people and their programs: one thread, which only takes bytes; what they mean is the caller's affair.
package struct DashboardListener: Sendable {
    /// Answers a whole request, and says whether the one who sent it was let in.
    package typealias Answer = @Sendable (IncomingRequest) async -> (response: DashboardResponse, isKnown: Bool)

    private let listener: HTTPListener

    /// The most connections at a time.
    package static let connectionLimit = 192

    /// Listens; throws when the address can't be had.
    package static func start(at address: ListenAddress, answer: @escaping Answer) async throws -> DashboardListener {
        let listener = try await HTTPListener.start(
            at: address, for: "the pages", hint: "choose another address", limit: connectionLimit
        ) { channel, connections in
            guard connections.admit(channel) else {
                channel.close(promise: nil)
                return
            }
            let pipeline = channel.pipeline.syncOperations
            try pipeline.configureHTTPServerPipeline(withPipeliningAssistance: true, withErrorHandling: true)
            try pipeline.addHandler(ConnectionHandler(connections: connections, answer: answer))
        }
        return DashboardListener(listener: listener)
    }

    /// The port it listens on, also when any was asked for.
    package var port: Int { listener.port }

    package func stop() async { await listener.stop() }
}

/// Has requests answered, and writes the responses.
private final class ConnectionHandler: GatheringHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let connections: ConnectionLimiter
    private let answer: DashboardListener.Answer
    /// A form that names a thousand jobs has some 30 KB.
    var gatherer = RequestGatherer(bodyLimit: 256 << 10, patience: .seconds(15))
    /// The task that answers; it ends with the connection.
    private(set) var work: Task<Void, Never>?

    init(connections: ConnectionLimiter, answer: @escaping DashboardListener.Answer) {
        self.connections = connections
        self.answer = answer
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch gatherer.read(unwrapInboundIn(data)) {
        case .tooLong: refuse(context)
        case .whole(let head, let body): take(head, body, context)
        case .began, nil: break
        }
    }

    /// The rest of a body that is too long is not waited for. It is answered at once, on the event loop: the handler that
    /// answers what is no HTTP would find no response begun and write one too.
    private func refuse(_ context: ChannelHandlerContext) {
        TextResponse(413, "the request is too long\n").write(to: context, closes: true)
    }

    private func take(_ head: HTTPRequestHead, _ body: [UInt8], _ context: ChannelHandlerContext) {
        let channel = context.channel
        let request = IncomingRequest(
            method: head.method.rawValue, target: head.uri, headers: head.headers.map { ($0.name, $0.value) },
            body: body, isOfOwnUser: { PeerUser.isOwn(of: channel) })
        let writer = ResponseWriter(channel: channel, isHead: head.method == .HEAD, closes: !head.isKeepAlive)
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        work = connections.run { [answer, connections] in
            let made = await answer(request)
            guard await writer.write(made.response) else { return }
            if made.isKnown { connections.keep(channel) }
            channel.eventLoop.execute { bound.value.0.gatherer.awaitRequest(bound.value.1) }
        }
    }
}

/// Writes one answer, part by part as the other end takes them.
private struct ResponseWriter: Sendable {
    let channel: any Channel
    let isHead: Bool
    let closes: Bool

    /// Writes the answer; false when it did not go out whole, and when the connection has ended meanwhile.
    func write(_ response: DashboardResponse) async -> Bool {
        do {
            try await send(response)
            return !Task.isCancelled
        } catch {
            if !Task.isCancelled { channel.close(promise: nil) }
            return false
        }
    }

    private func send(_ response: DashboardResponse) async throws {
        var head = HTTPResponseHead(version: .http1_1, status: HTTPResponseStatus(statusCode: response.status))
        for (name, value) in response.headers { head.headers.add(name: name, value: value) }
        switch response.body {
        case .bytes(let bytes):
            head.headers.add(name: "Content-Length", value: "\(bytes.count)")
            if closes { head.headers.add(name: "Connection", value: "close") }
            channel.write(HTTPServerResponsePart.head(head), promise: nil)
            if !isHead, !bytes.isEmpty { channel.write(part(bytes), promise: nil) }
            try await channel.writeAndFlush(HTTPServerResponsePart.end(nil)).get()
            if closes { try await channel.close().get() }
        case .stream(let parts):
            head.headers.add(name: "Connection", value: "close")
            try await channel.writeAndFlush(HTTPServerResponsePart.head(head)).get()
            if !isHead { for try await bytes in parts { try await channel.writeAndFlush(part(bytes)).get() } }
            try Task.checkCancellation()
            try await channel.writeAndFlush(HTTPServerResponsePart.end(nil)).get()
            try await channel.close().get()
        }
    }

    private func part(_ bytes: [UInt8]) -> HTTPServerResponsePart { .body(.byteBuffer(ByteBuffer(bytes: bytes))) }
}
