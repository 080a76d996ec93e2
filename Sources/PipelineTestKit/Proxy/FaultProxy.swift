import CLibrary
import Synchronization

/// A TCP proxy on 127.0.0.1 between a client and a server of a test, which makes the faults of real networks.
///
/// It stands at its port from the start, so that a server can name it in its answers; where connections go is said
/// later, and can change. Two threads serve each connection.
package final class FaultProxy: Sendable {
    private struct State: Sendable {
        var listener: Int32
        var server: UInt16?
        var fate: @Sendable (Int) -> ConnectionFate = { _ in .pass }
        var connections: [Int: ProxyConnection] = [:]
        var connectionCount = 0
        var faultCount = 0
        var passed: [ConnectionFate.Direction: Int64] = [:]
    }

    package let port: UInt16
    private let state: Mutex<State>

    package init() throws(LoopbackServer.SocketError) {
        let (listener, port) = try LoopbackServer.listen()
        self.port = port
        state = Mutex(State(listener: listener))
        LoopbackServer.startThread { [self] in accept(from: listener) }
    }

    package var url: String { "http://127.0.0.1:\(port)" }

    /// The number of connections that have gone wrong in their middle so far.
    package var faultCount: Int { state.withLock { $0.faultCount } }

    /// Returns how many bytes went through in a direction, over all connections.
    package func passed(_ direction: ConnectionFate.Direction) -> Int64 { state.withLock { $0.passed[direction] ?? 0 } }

    /// Forwards connections that come from now on to a port; until then they are refused.
    package func forward(to port: UInt16) { state.withLock { $0.server = port } }

    /// Chooses what becomes of each connection that comes from now on, by its number from 1.
    package func choose(_ fate: @escaping @Sendable (Int) -> ConnectionFate) { state.withLock { $0.fate = fate } }

    /// From now on everything goes through; connections that stand still are cut.
    package func calm() {
        choose { _ in .pass }
        cutAll()
    }

    /// Cuts all connections that there are.
    package func cutAll() {
        for connection in state.withLock({ Array($0.connections.values) }) { connection.cut(.reset) }
    }

    /// Ends: new connections are refused, those that there are cut.
    package func stop() {
        let listener = state.withLock { state in
            defer { state.listener = -1 }
            return state.listener
        }
        // The thread that accepts closes it, so that its number is nobody else's before.
        if listener >= 0 { shutdown(listener, Int32(SHUT_RDWR)) }
        cutAll()
    }

    private func accept(from listener: Int32) {
        while true {
            let descriptor = LoopbackServer.acceptClosingOnExec(listener)
            if descriptor < 0 {
                if errno == EINTR || errno == ECONNABORTED { continue }
                close(listener)
                return
            }
            serve(descriptor)
        }
    }

    private func serve(_ descriptor: Int32) {
        let (number, server, choose) = state.withLock { state in
            state.connectionCount += 1
            return (state.connectionCount, state.server, state.fate)
        }
        let fate = choose(number)
        guard let server, fate != .refuse, let upstream = LoopbackServer.connection(to: server) else {
            ProxyConnection.reset(descriptor)
            close(descriptor)
            return
        }
        let connection = ProxyConnection(
            client: descriptor, server: upstream, fate: fate,
            onPass: { [self] direction, count in state.withLock { $0.passed[direction, default: 0] += Int64(count) } },
            onFault: { [self] in state.withLock { $0.faultCount += 1 } }
        ) { [self] in state.withLock { _ = $0.connections.removeValue(forKey: number) } }
        state.withLock { $0.connections[number] = connection }
        connection.start()
    }
}
