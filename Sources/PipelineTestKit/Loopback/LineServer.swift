import CLibrary
import Synchronization

/// A server on a free port of 127.0.0.1 that talks lines, such as a mail server: each connection begins with a
/// greeting, and a script answers each line.
package final class LineServer: Sendable {
    /// The answer to a line: nothing, bytes, or the end of the connection.
    package enum Answer: Sendable {
        case nothing
        case line(String)
        case end
    }

    private struct State: Sendable {
        var lines: [String] = []
        var connections: Set<Int32> = []
    }

    package let port: UInt16
    private let listener: Int32
    private let state = Mutex(State())

    /// - Parameter answer: called with each line, without its end, and all lines of the connection before it.
    package init(
        greeting: String, _ answer: @escaping @Sendable (String, [String]) -> Answer
    ) throws(LoopbackServer.SocketError) {
        (listener, port) = try LoopbackServer.listen()
        LoopbackServer.startThread { [self] in
            while true {
                let descriptor = accept(listener, nil, nil)
                if descriptor < 0 { return }
                _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
                state.withLock { _ = $0.connections.insert(descriptor) }
                LoopbackServer.startThread { [self] in
                    serve(descriptor, greeting, answer)
                    state.withLock { _ = $0.connections.remove(descriptor) }
                    close(descriptor)
                }
            }
        }
    }

    /// All lines that came, of all connections.
    package var lines: [String] { state.withLock { $0.lines } }

    /// Takes no more connections and cuts those that are open.
    package func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        state.withLock { state in
            for descriptor in state.connections { shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }

    private func serve(_ descriptor: Int32, _ greeting: String, _ answer: (String, [String]) -> Answer) {
        guard send(greeting, to: descriptor) else { return }
        var rest: [UInt8] = []
        var seen: [String] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            rest += buffer[..<count]
            while let end = rest.firstIndex(of: 10) {
                var line = String(decoding: rest[..<end], as: UTF8.self)
                if line.hasSuffix("\r") { line.removeLast() }
                rest.removeSubrange(...end)
                state.withLock { $0.lines.append(line) }
                switch answer(line, seen) {
                case .nothing: break
                case .line(let text): guard send(text, to: descriptor) else { return }
                case .end: return
                }
                seen.append(line)
            }
        }
    }

    private func send(_ line: String, to descriptor: Int32) -> Bool {
        let bytes = Array("\(line)\r\n".utf8)
        return bytes.withUnsafeBytes { LoopbackServer.systemSend(descriptor, $0) } == bytes.count
    }
}
