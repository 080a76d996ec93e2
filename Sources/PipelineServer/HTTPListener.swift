import CLibrary
package import NIOCore
import NIOPosix
import PipelineCore
package import PipelineKit

/// A listener on an address: one thread, which only takes bytes.
package struct HTTPListener: Sendable {
    private let group: MultiThreadedEventLoopGroup
    private let channel: any Channel
    private let connections: ConnectionLimiter

    /// Listens; throws a ``StepFailure`` when the address can't be had.
    ///
    /// - Parameters:
    ///   - purpose: what it listens for, as an error says it.
    ///   - limit: the most connections at a time: each costs a descriptor, which transfers need too.
    ///   - prepare: admits a connection that was accepted and sets up its handlers, on its event loop.
    package static func start(
        at address: ListenAddress, for purpose: String, hint: String, limit: Int,
        prepare: @escaping @Sendable (any Channel, ConnectionLimiter) throws -> Void
    ) async throws -> HTTPListener {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let connections = ConnectionLimiter(limit: limit)
        do {
            let channel = try await ServerBootstrap(group: group)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .serverChannelOption(.backlog, value: 256)
                .childChannelOption(.maxMessagesPerRead, value: 1)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture { try prepare(channel, connections) }
                }
                .bind(host: address.host, port: address.port).get()
            return HTTPListener(group: group, channel: channel, connections: connections)
        } catch {
            try? await group.shutdownGracefully()
            let reason = (error as? IOError).map { String(cString: strerror($0.errnoCode)).lowercased() } ?? "\(error)"
            throw StepFailure("cannot listen for \(purpose) on \(address.host):\(address.port): \(reason)", hint: hint)
        }
    }

    /// The port it listens on, also when any was asked for.
    package var port: Int { channel.localAddress?.port ?? 0 }

    /// Closes all connections, and returns when nothing is written to them any more.
    package func stop() async {
        try? await channel.close().get()
        await connections.closeAll()
        try? await group.shutdownGracefully()
    }
}
