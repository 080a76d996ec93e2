import HTTPTypes
import JSONPath
import NIOCore
import NIOHTTP1
import NIOPosix
import PipelineCore
import PipelineKit
import Synchronization

/// A service whose jobs end when they are pushed, and which measures how long it takes until it is asked.
final class CallbackService: Sendable {
    private struct Job {
        var callback: String?
        var isDone = false
        var asked: CheckedContinuation<Void, Never>?
    }

    private let channel: any Channel
    private let jobs: Mutex<[String: Job]>
    private let network = Network(transport: CurlTransport())

    private init(_ channel: any Channel, _ jobs: consuming Mutex<[String: Job]>) {
        self.channel = channel
        self.jobs = jobs
    }

    var url: String { "http://127.0.0.1:\(channel.localAddress?.port ?? 0)" }

    static func start() async throws -> CallbackService {
        let box = Box()
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 1024)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(
                        PushHandler { method, name, body in
                            box.service.withLock { $0 }?.answer(method, name, body) ?? ""
                        })
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let service = CallbackService(channel, Mutex([:]))
        box.service.withLock { $0 = service }
        return service
    }

    private final class Box: Sendable {
        let service = Mutex<CallbackService?>(nil)
    }

    /// A port that was free a moment ago.
    static func freePort() async throws -> Int {
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        defer { channel.close(promise: nil) }
        return channel.localAddress?.port ?? 0
    }

    func stop() async { try? await channel.close().get() }

    fileprivate func answer(_ method: HTTPMethod, _ name: String, _ body: [UInt8]) -> String {
        if method == .POST {
            let callback = (try? JSON.parse(body))?["callback"]?.string
            jobs.withLock { $0[name] = Job(callback: callback) }
            return "{\"id\":\"\(name)\"}"
        }
        let (isDone, asked) = jobs.withLock { jobs in
            defer { jobs[name]?.asked = nil }
            return (jobs[name]?.isDone ?? false, jobs[name]?.asked)
        }
        asked?.resume()
        return isDone ? "{\"state\":\"done\"}" : "{\"state\":\"running\"}"
    }

    /// Ends a job and pushes; milliseconds until the job is asked for.
    func push(_ index: Int) async throws -> Double {
        let name = "\(index)"
        guard let callback = jobs.withLock({ $0[name]?.callback }) else { throw BenchFailure(end: "no callback") }
        jobs.withLock { $0[name]?.isDone = true }
        let start = ContinuousClock.now
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await withCheckedContinuation { continuation in
                    self.jobs.withLock { $0[name]?.asked = continuation }
                }
            }
            group.addTask { [network] in
                _ = try? await network.exchange(RequestDescription(method: .post, url: callback, body: .text("{}")))
            }
            await group.waitForAll()
        }
        return (ContinuousClock.now - start) / .milliseconds(1)
    }
}

/// Gathers a request and answers with JSON.
private final class PushHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let answer: @Sendable (HTTPMethod, String, [UInt8]) -> String
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []

    init(answer: @escaping @Sendable (HTTPMethod, String, [UInt8]) -> String) { self.answer = answer }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            body = []
        case .body(var buffer): body += buffer.readBytes(length: buffer.readableBytes) ?? []
        case .end:
            guard let head else { return }
            let name = head.uri.split(separator: "/").last.map(String.init) ?? ""
            let text = answer(head.method, name, body)
            var answer = HTTPResponseHead(version: head.version, status: .ok)
            answer.headers.add(name: "Content-Length", value: "\(text.utf8.count)")
            answer.headers.add(name: "Content-Type", value: "application/json")
            context.write(wrapOutboundOut(.head(answer)), promise: nil)
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: text)))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }
}
