import CLibrary
import Synchronization

/// One connection through a ``FaultProxy``: two sockets, and a thread for each direction.
final class ProxyConnection: Sendable {
    private let client: Int32
    private let server: Int32
    private let fate: ConnectionFate
    private let onPass: @Sendable (ConnectionFate.Direction, Int) -> Void
    private let onFault: @Sendable () -> Void
    private let ended: @Sendable () -> Void
    private let running = Mutex(2)

    /// Takes both sockets over; `ended` is called when they are closed.
    init(
        client: Int32, server: Int32, fate: ConnectionFate,
        onPass: @escaping @Sendable (ConnectionFate.Direction, Int) -> Void,
        onFault: @escaping @Sendable () -> Void, ended: @escaping @Sendable () -> Void
    ) {
        self.client = client
        self.onPass = onPass
        self.onFault = onFault
        self.server = server
        self.fate = fate
        self.ended = ended
    }

    func start() {
        for direction in ConnectionFate.Direction.allCases {
            LoopbackServer.startThread { [self] in
                pump(direction)
                finish()
            }
        }
    }

    /// Ends both directions. With RST the sockets are only closed, by the last thread: a shutdown would send FIN.
    func cut(_ fault: ConnectionFate.Fault) {
        running.withLock { running in
            guard running > 0 else { return }
            for descriptor in [client, server] {
                if fault == .reset { Self.reset(descriptor) }
                shutdown(descriptor, Int32(fault == .reset ? SHUT_RD : SHUT_RDWR))
            }
        }
    }

    /// Makes the close of a socket send RST (socket(7), SO_LINGER).
    static func reset(_ descriptor: Int32) {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    private func finish() {
        let isLast = running.withLock { running in
            running -= 1
            guard running == 0 else { return false }
            close(client)
            close(server)
            return true
        }
        if isLast { ended() }
    }

    private func pump(_ direction: ConnectionFate.Direction) {
        let (source, target) = direction == .toServer ? (client, server) : (server, client)
        var passed: Int64 = 0
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = recv(source, &buffer, buffer.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            if case .delay(let milliseconds) = fate { usleep(UInt32(milliseconds) * 1000) }
            guard send(&buffer, count, passed, direction, to: target) else { return }
            passed += Int64(count)
        }
        shutdown(target, Int32(SHUT_WR))
    }

    /// False when the direction is at its end.
    private func send(
        _ buffer: inout [UInt8], _ count: Int, _ passed: Int64, _ direction: ConnectionFate.Direction, to target: Int32
    ) -> Bool {
        guard case .fault(let fault, direction, let limit) = fate, passed <= limit, limit < passed + Int64(count) else {
            return sendAll(buffer[..<count], to: target)
        }
        onFault()
        let room = Int(limit - passed)
        switch fault {
        case .corrupt:
            buffer[room] ^= 0x20
            return sendAll(buffer[..<count], to: target)
        case .stall:
            _ = sendAll(buffer[..<room], to: target)
            return swallow(direction == .toServer ? client : server)
        case .close, .reset:
            _ = sendAll(buffer[..<room], to: target)
            cut(fault)
            return false
        }
    }

    /// Reads what comes and passes nothing on, until the connection is cut.
    private func swallow(_ source: Int32) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = recv(source, &buffer, buffer.count, 0)
            if count < 0, errno == EINTR { continue }
            if count <= 0 {
                cut(.close)
                return false
            }
        }
    }

    private func sendAll(_ bytes: ArraySlice<UInt8>, to target: Int32) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { LoopbackServer.systemSend(target, $0) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                cut(.close)
                return false
            }
            onPass(target == server ? .toServer : .toClient, count)
            rest = rest.dropFirst(count)
        }
        return true
    }
}
