import CLibrary

/// A port on which connections are neither accepted nor refused: its queue is full, so that attempts hang.
package final class DeafListener: Sendable {
    package let port: UInt16
    private let descriptors: [Int32]

    package init() throws(LoopbackServer.SocketError) {
        let (listener, port) = try LoopbackServer.listen(backlog: 0)
        self.port = port
        self.descriptors = [listener] + (0..<8).map { _ in LoopbackServer.connectWithoutWaiting(to: port) }
    }

    deinit {
        for descriptor in descriptors { close(descriptor) }
    }
}
