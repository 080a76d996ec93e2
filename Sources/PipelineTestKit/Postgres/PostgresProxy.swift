import CLibrary
import Synchronization

/// Stands between a client and a server of PostgreSQL, on a Unix socket of its own, and cuts a connection at a message of
/// the protocol (postgresql.org/docs/current/protocol-message-formats.html).
package final class PostgresProxy: Sendable {
    /// The place where a connection is cut.
    package enum Cut: Sendable, Equatable {
        /// The client's COMMIT has not reached the server.
        case beforeCommit
        /// The server has committed; its answer has not reached the client.
        case afterCommit
        /// So many chunks from the server have gone through since the cut was asked for.
        case afterChunks(Int)
    }

    private struct State {
        var cut: Cut?
        var cuts = 0
        var descriptors: Set<Int32> = []
        var comers: AsyncStream<Void>.Continuation?
        var isClosed = false
    }

    /// The folder of the proxy's socket: an address's `host`.
    package let folder: String
    private let server: String
    private let listener: Int32
    private let state = Mutex(State())

    /// - Parameter server: the folder of the server's socket.
    package init(to server: String) throws {
        var template = Array("/tmp/pipeline-proxy-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else {
            throw BuiltProgram.StartError(description: "no folder for the proxy can be made")
        }
        folder = String(cString: made)
        self.server = server
        listener = Self.openSocket()
        let path = Self.path(folder)
        guard Self.withAddress(path, { bind(listener, $0, $1) }) == 0, listen(listener, 64) == 0 else {
            throw BuiltProgram.StartError(description: "the proxy can't listen on \(path)")
        }
        LoopbackServer.startThread { [self] in accept() }
    }

    /// Cuts one connection at that place, the next time that it is reached.
    package func cut(_ place: Cut) { state.withLock { $0.cut = place } }

    /// The number of connections that were cut.
    package var cuts: Int { state.withLock { $0.cuts } }

    /// Returns a stream with an element for each connection that comes from now on.
    package func connections() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        state.withLock { $0.comers = continuation }
        return stream
    }

    package func close() {
        let open = state.withLock { state in
            state.isClosed = true
            state.comers?.finish()
            return state.descriptors
        }
        for descriptor in open { shutdown(descriptor, Int32(SHUT_RDWR)) }
        shutdown(listener, Int32(SHUT_RDWR))
        unlink(Self.path(folder))
        rmdir(folder)
    }

    private func accept() {
        while true {
            let client = CLibrary.accept(listener, nil, nil)
            guard client >= 0 else {
                if errno == EINTR { continue }
                CLibrary.close(listener)
                return
            }
            let upstream = Self.openSocket()
            guard Self.withAddress(Self.path(server), { connect(upstream, $0, $1) }) == 0 else {
                CLibrary.close(client)
                CLibrary.close(upstream)
                continue
            }
            let isClosed = state.withLock { state in
                state.descriptors.formUnion([client, upstream])
                state.comers?.yield()
                return state.isClosed
            }
            if isClosed { return }
            let box = Ends()
            LoopbackServer.startThread { [self] in pump(client, upstream, isFromServer: false, box) }
            LoopbackServer.startThread { [self] in pump(upstream, client, isFromServer: true, box) }
        }
    }

    /// The last of two threads closes both sockets.
    private final class Ends: Sendable {
        let open = Atomic<Int>(2)
    }

    private func pump(_ from: Int32, _ to: Int32, isFromServer: Bool, _ ends: Ends) {
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = read(from, &bytes, bytes.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0, !cuts(bytes[..<count], isFromServer: isFromServer) else { break }
            var sent = 0
            while sent < count {
                let part = bytes[sent..<count].withUnsafeBytes {
                    send(to, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard part > 0 else { break }
                sent += part
            }
        }
        shutdown(from, Int32(SHUT_RDWR))
        shutdown(to, Int32(SHUT_RDWR))
        guard ends.open.subtract(1, ordering: .sequentiallyConsistent).newValue == 0 else { return }
        state.withLock { $0.descriptors.subtract([from, to]) }
        CLibrary.close(from)
        CLibrary.close(to)
    }

    private func cuts(_ bytes: ArraySlice<UInt8>, isFromServer: Bool) -> Bool {
        state.withLock { state in
            // The text of a query and the tag of an answer both end with a zero.
            let isCommit = bytes.firstRange(of: Array("COMMIT\0".utf8)) != nil
            switch state.cut {
            case .beforeCommit where !isFromServer && isCommit, .afterCommit where isFromServer && isCommit: break
            case .afterChunks(let left) where isFromServer:
                guard left <= 0 else {
                    state.cut = .afterChunks(left - 1)
                    return false
                }
            default: return false
            }
            state.cut = nil
            state.cuts += 1
            return true
        }
    }

    private static func path(_ folder: String) -> String { folder + "/.s.PGSQL.5432" }

    private static func openSocket() -> Int32 {
        #if canImport(Glibc)
            socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        #else
            socket(AF_UNIX, Int32(SOCK_STREAM), 0)
        #endif
    }

    private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { target in
            target.copyBytes(from: path.utf8.prefix(target.count - 1))
        }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
    }
}
