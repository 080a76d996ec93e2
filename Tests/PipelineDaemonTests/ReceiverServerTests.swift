@testable import PipelineKit
import Testing

@testable import PipelineDaemon

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The receiver over real connections.
@Suite("The receiver's connections", .serialized, .timeLimit(.minutes(1)))
struct ReceiverServerTests {
    private static let request = "POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

    private static func server() async throws -> ReceiverServer {
        try await ReceiverServer.start(
            at: ListenAddress(parsing: "127.0.0.1:0"), isKnown: { $0 == "/known" }, answer: { _ in .taken })
    }

    @Test("connections that are held open keep no callback out: the oldest goes")
    func idle() async throws {
        let server = try await Self.server()
        let held = try (0..<ReceiverServer.connectionLimit).map { _ in try RawConnection(port: server.port) }
        for _ in 0..<3 {
            let next = try RawConnection(port: server.port)
            next.send(Self.request)
            #expect(next.rest().hasPrefix("HTTP/1.1 204"))
        }
        // The first one was let go without a word; the last one is still served.
        #expect(held[0].rest().isEmpty)
        held[held.count - 1].send(Self.request)
        #expect(held[held.count - 1].rest().hasPrefix("HTTP/1.1 204"))
        await server.stop()
    }

    @Test("those that bring the address of a callback stay; one more than they is answered 503 and closed")
    func known() async throws {
        let server = try await Self.server()
        let begun = "POST /known HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{"
        var held: [RawConnection] = []
        // The server looks at what they bring in its own time, and until then lets one go: the suite's limit is this loop's.
        while true {
            let connection = try RawConnection(port: server.port)
            connection.send(begun)
            held.append(connection)
            guard held.count >= ReceiverServer.connectionLimit else { continue }
            let refused = try RawConnection(port: server.port)
            refused.send(Self.request)
            let answer = refused.rest()
            guard answer.hasPrefix("HTTP/1.1 503") else { continue }
            #expect(answer.contains("Retry-After: 10\r\n") && answer.contains("Connection: close\r\n"))
            #expect(answer.hasSuffix("too many connections\n"))
            break
        }
        let last = held[held.count - 1]
        last.send("}")
        #expect(last.rest().hasPrefix("HTTP/1.1 204"))
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

    /// Returns what comes until the other side ends.
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
