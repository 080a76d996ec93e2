import CLibrary
import Dispatch
import Synchronization

/// An HTTP/1.1 server on 127.0.0.1 that does what a test tells it, faults included.
///
/// It takes a free port and a thread for each connection; all that blocks, blocks there.
package final class LoopbackServer: Sendable {
    /// The system refused a socket.
    package struct SocketError: Error, Sendable {
        package let code: Int32
    }

    struct State: Sendable {
        var listener: Int32
        var connections: Set<Int32> = []
        var connectionCount = 0
        var requests: [ReceivedRequest] = []
        var waiters: [(count: Int, resume: @Sendable () -> Void)] = []
    }

    package let port: UInt16
    let script: @Sendable (ReceivedRequest) -> ScriptedAnswer
    let keptBodyBytes: Int
    let stopped = Gate()
    let state: Mutex<State>

    private init(keptBodyBytes: Int, script: @escaping @Sendable (ReceivedRequest) -> ScriptedAnswer)
        throws(SocketError)
    {
        let (listener, port) = try Self.listen()
        self.port = port
        self.script = script
        self.keptBodyBytes = keptBodyBytes
        self.state = Mutex(State(listener: listener))
        Self.startThread { [self] in accept(from: listener) }
    }

    /// - Parameters:
    ///   - keptBodyBytes: how much of each request's body is recorded.
    ///   - handler: called on the connection's thread when a request is there with its body.
    package convenience init(
        keptBodyBytes: Int = 4 << 20, _ handler: @escaping @Sendable (ReceivedRequest) -> ScriptedAnswer
    ) throws(SocketError) {
        try self.init(keptBodyBytes: keptBodyBytes, script: { _ in ScriptedAnswer([.readBody, .then(handler)]) })
    }

    /// A server whose script is asked when the head of a request is there, before its body is read.
    package static func beforeBody(
        keptBodyBytes: Int = 4 << 20, _ script: @escaping @Sendable (ReceivedRequest) -> ScriptedAnswer
    ) throws(SocketError) -> LoopbackServer {
        try LoopbackServer(keptBodyBytes: keptBodyBytes, script: script)
    }

    package var url: String { "http://127.0.0.1:\(port)" }

    /// The server's address under a name that is another origin.
    package var otherURL: String { "http://localhost:\(port)" }

    /// The requests that came so far, in the order of the heads; bodies as far as they were read.
    package var requests: [ReceivedRequest] { state.withLock { $0.requests } }

    /// The number of connections that were accepted.
    package var connectionCount: Int { state.withLock { $0.connectionCount } }

    /// Returns when that many requests have begun.
    package func requests(atLeast count: Int) async -> [ReceivedRequest] {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.requests.count >= count { return true }
                state.waiters.append((count, { continuation.resume() }))
                return false
            }
            if isThere { continuation.resume() }
        }
        return requests
    }

    /// Closes the listening socket: new connections are refused, those that exist go on.
    package func refuse() {
        let listener = state.withLock { state in
            defer { state.listener = -1 }
            return state.listener
        }
        guard listener >= 0 else { return }
        // The thread that accepts closes it: a number that is free too early is another server's before that thread
        // has noticed, and it would answer for it.
        shutdown(listener, Int32(SHUT_RDWR))
    }

    /// Refuses new connections and cuts all others.
    package func stop() {
        refuse()
        stopped.open()
        state.withLock { state in
            for descriptor in state.connections { shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }

    func record(_ request: ReceivedRequest) -> Int {
        let (number, ready) = state.withLock { state in
            state.requests.append(request)
            let count = state.requests.count
            state.requests[count - 1].number = count
            let ready = state.waiters.filter { $0.count <= count }
            state.waiters.removeAll { $0.count <= count }
            return (count, ready)
        }
        for waiter in ready { waiter.resume() }
        return number
    }

    func update(_ request: ReceivedRequest) {
        state.withLock { $0.requests[request.number - 1] = request }
    }

    func forget(_ descriptor: Int32) {
        state.withLock { state in
            state.connections.remove(descriptor)
            close(descriptor)
        }
    }

    private func accept(from listener: Int32) {
        while true {
            let descriptor = Self.acceptClosingOnExec(listener)
            if descriptor < 0 {
                if errno == EINTR || errno == ECONNABORTED { continue }
                close(listener)
                return
            }
            let number = state.withLock { state in
                state.connections.insert(descriptor)
                state.connectionCount += 1
                return state.connectionCount
            }
            Self.startThread { [self] in LoopbackConnection(descriptor, number: number, server: self).serve() }
        }
    }
}
