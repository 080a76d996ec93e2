import FoundationEssentials
import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1
import NIOPosix
import NIOResumableUpload
import Synchronization

/// A running studio on a port of 127.0.0.1.
package struct StudioServer: Sendable {
    /// The path of uploads under way; with a slash at the end, as the library wants it.
    static let uploadsPath = "/uploads/"

    private let studio: Studio
    /// The port it listens on, also if any free one was asked for.
    package let port: Int

    /// `http://127.0.0.1:PORT`
    package var url: String { "http://127.0.0.1:\(port)" }
    /// The counters of its work so far; also `GET /stats`.
    package var counters: Counters { studio.statistics.counters }
    /// The counters as they are, and again after each change.
    package var changes: AsyncStream<Counters> { studio.statistics.changes }

    /// Serves while `body` runs, then stops: connections are closed, computations are left for the next start.
    ///
    /// - Throws: if the data folder or the port can't be used, and what `body` throws.
    package static func run<Result: Sendable>(
        _ settings: StudioSettings, during body: (StudioServer) async throws -> Result
    ) async throws -> Result {
        let studio = try Studio(settings, makeID: randomID)
        // One thread: it writes what comes in, in the order in which it comes, and the computations are elsewhere.
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        do {
            let server = StudioServer(studio: studio, port: try await listen(studio, on: group))
            let result = try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { await studio.work() }
                let result = try await body(server)
                tasks.cancelAll()
                return result
            }
            try await group.shutdownGracefully()
            return result
        } catch {
            try? await group.shutdownGracefully()
            throw error
        }
    }

    /// No connection is accepted before the port, and with it the address of uploads, is known.
    private static func listen(_ studio: Studio, on group: MultiThreadedEventLoopGroup) async throws -> Int {
        let settings = studio.settings
        let uploads = LateUploadContext()
        let piece = settings.rate.map { min(65536, max(1024, $0 / 10)) } ?? 65536
        let listener = try await ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.autoRead, value: false)
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: piece))
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try configure(channel, studio, uploads) }
            }
            .bind(host: "127.0.0.1", port: settings.port)
            .get()
        let port = listener.localAddress?.port ?? settings.port
        uploads.set(
            HTTPResumableUploadContext(
                origin: settings.origin ?? "http://127.0.0.1:\(port)",
                path: uploadsPath,
                timeout: .seconds(Int64(settings.uploadPatience))
            )
        )
        try await listener.setOption(.autoRead, value: true).get()
        return port
    }

    private static func configure(_ channel: any Channel, _ studio: Studio, _ uploads: LateUploadContext) throws {
        guard let context = uploads.get() else { throw ChannelError.ioOnClosedChannel }
        let pipeline = channel.pipeline.syncOperations
        try pipeline.configureHTTPServerPipeline()
        try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: false))
        try pipeline.addHandler(RequestGate(studio, uploadsPath: uploadsPath))
        // A handler for each request: the library makes a new channel for each.
        let handler = HTTPResumableUploadHandler(context: context) { request in
            try? request.pipeline.syncOperations.addHandler(StudioHandler(studio))
        }
        try pipeline.addHandler(handler)
    }

    private static func randomID() -> String {
        var generator = SystemRandomNumberGenerator()
        return "m" + String(generator.next() as UInt64 | 1 << 63, radix: 36)
    }
}

/// The library wants the server's address before there is a port.
private final class LateUploadContext: Sendable {
    private let context = Mutex<HTTPResumableUploadContext?>(nil)

    func set(_ context: HTTPResumableUploadContext) {
        self.context.withLock { $0 = context }
    }

    func get() -> HTTPResumableUploadContext? {
        context.withLock { $0 }
    }
}
