import ArgumentParser
import CLibrary
import NIOCore
import NIOHTTP1
import NIOPosix

/// A service that does nothing slowly: what is measured is the client.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve PUT /files/N, POST /jobs, GET /jobs/N, /files/N, /items/N and /events/N on loopback.")

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

    /// A page of a list of so many items as the path says: `/items/COUNT?offset=O&limit=L`.
    private static func page(_ uri: String) -> String {
        let numbers = uri.split(whereSeparator: { !$0.isNumber }).compactMap { Int($0) }
        guard numbers.count == 3 else { return #"{"data":[]}"# }
        let items = (numbers[1]..<max(numbers[1], min(numbers[0], numbers[1] + numbers[2]))).map {
            #"{"id":\#($0),"name":"item \#($0)","url":"https://example.com/items/\#($0)","tags":["a","b"]}"#
        }
        return #"{"data":[\#(items.joined(separator: ","))]}"#
    }

    /// A stream of that many events of 4 KiB, and its end.
    private static func events(_ count: Int) -> String {
        let steps = (0..<count).map { number in
            "id: \(number)\nevent: step\ndata: {\"n\":\(number * 100 / count),\"text\":\"\(file)\"}\n\n"
        }
        return steps.joined() + "event: done\ndata: {\"n\":\(count)}\n\n"
    }

    private func answer(_ request: HTTPRequestHead, _ context: ChannelHandlerContext) {
        let isFile = request.uri.hasPrefix("/files/")
        let name = request.uri.split(separator: "/").last.map(String.init) ?? ""
        let (status, text): (HTTPResponseStatus, String) =
            switch (request.method, isFile) {
            case (.PUT, _): (.created, "{\"id\":\"\(name)\"}")
            case (.POST, _): (.accepted, "{\"id\":\"job\"}")
            case (_, true): (.ok, Self.file)
            case (_, _) where request.uri.hasPrefix("/items/"): (.ok, Self.page(request.uri))
            case (_, _) where request.uri.hasPrefix("/events/"): (.ok, Self.events(Int(name) ?? 0))
            default: (.ok, "{\"state\":\"done\",\"url\":\"/files/1\"}")
            }
        var head = HTTPResponseHead(version: request.version, status: status)
        head.headers.add(name: "Content-Length", value: "\(text.utf8.count)")
        let type = isFile ? "application/octet-stream" : "application/json"
        head.headers.add(
            name: "Content-Type", value: request.uri.hasPrefix("/events/") ? "text/event-stream" : type)
        if isFile { head.headers.add(name: "ETag", value: "\"one\"") }
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: text)))), promise: nil)
        let keeps = request.isKeepAlive
        let end = context.eventLoop.makePromise(of: Void.self)
        if !keeps { end.futureResult.assumeIsolated().whenComplete { _ in context.close(promise: nil) } }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: end)
    }
}
