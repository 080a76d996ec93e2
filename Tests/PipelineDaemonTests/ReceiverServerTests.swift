import Testing

@testable import PipelineDaemon

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The receiver over real connections.
@Suite("The receiver's connections", .timeLimit(.minutes(1)))
struct ReceiverServerTests {
    private static let request = "POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

    @Test("one too many is answered 503 and closed; another one finds room once one of the others is closed")
    func limit() async throws {
        let server = try await ReceiverServer.start(at: ListenAddress(parsing: "127.0.0.1:0")) { _ in .taken }
        var held = try (0..<ReceiverServer.connectionLimit).map { _ in try RawConnection(port: server.port) }
        let refused = try RawConnection(port: server.port)
        let answer = refused.rest()
        #expect(answer.hasPrefix("HTTP/1.1 503"), "\(answer)")
        #expect(answer.contains("Retry-After: 10\r\n") && answer.contains("Connection: close\r\n"))
        #expect(answer.hasSuffix("too many connections\n"))
        // Those that were first are served all the while.
        held[0].send(Self.request)
        #expect(held[0].rest().hasPrefix("HTTP/1.1 204"))
        held.removeFirst()
        // The server hears of the end in its own time: the suite's limit is this loop's.
        while true {
            let next = try RawConnection(port: server.port)
            next.send(Self.request)
            if next.rest().hasPrefix("HTTP/1.1 204") { break }
        }
        held = []
        await server.stop()
    }
}

/// A client's connection, byte by byte; closed when nobody holds it.
private final class RawConnection {
    struct Refused: Error { let code: Int32 }

    private let descriptor: Int32

    init(port: Int) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard code == 0 else { throw Refused(code: errno) }
    }

    deinit { close(descriptor) }

    func send(_ text: String) {
        let bytes = Array(text.utf8)
        _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// What comes until the other side ends.
    func rest() -> String {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(descriptor, &piece, piece.count, 0)
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += piece[..<count]
        }
    }
}
