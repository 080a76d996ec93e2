import ArgumentParser
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix

/// A service that does nothing slowly: what is measured is the client.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Serve PUT /files/N, POST /jobs, GET /jobs/N and GET /files/N on loopback.")

    func run() async throws {
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelOption(.backlog, value: 1024)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(BenchHandler())
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        print("http://127.0.0.1:\(channel.localAddress?.port ?? 0)")
        fflush(nil)
        try await channel.closeFuture.get()
    }
}

/// Answers at once; a job is done when it is first asked for.
private final class BenchHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private var head: HTTPRequestHead?
    private static let file = String(repeating: "0123456789abcdef", count: 256)

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): self.head = head
        case .body: break
        case .end: if let head { answer(head, context) }
        }
    }

    private func answer(_ request: HTTPRequestHead, _ context: ChannelHandlerContext) {
        let isFile = request.uri.hasPrefix("/files/")
        let name = request.uri.split(separator: "/").last.map(String.init) ?? ""
        let (status, text): (HTTPResponseStatus, String) =
            switch (request.method, isFile) {
            case (.PUT, _): (.created, "{\"id\":\"\(name)\"}")
            case (.POST, _): (.accepted, "{\"id\":\"job\"}")
            case (_, true): (.ok, Self.file)
            default: (.ok, "{\"state\":\"done\",\"url\":\"/files/1\"}")
            }
        var head = HTTPResponseHead(version: request.version, status: status)
        head.headers.add(name: "Content-Length", value: "\(text.utf8.count)")
        head.headers.add(name: "Content-Type", value: isFile ? "application/octet-stream" : "application/json")
        if isFile { head.headers.add(name: "ETag", value: "\"one\"") }
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: text)))), promise: nil)
        let keeps = request.isKeepAlive
        let end = context.eventLoop.makePromise(of: Void.self)
        if !keeps { end.futureResult.assumeIsolated().whenComplete { _ in context.close(promise: nil) } }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: end)
    }
}
