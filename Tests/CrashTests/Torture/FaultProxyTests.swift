import Foundation
import Testing

@testable import PipelineTestKit

@Suite("The tests' own proxy does to connections what it is told")
struct FaultProxyTests {
    private static let size = 200_000

    @Test("what passes is whole")
    func pass() throws {
        for fate in [ConnectionFate.pass, .delay(milliseconds: 1)] {
            let (answer, isReset) = try exchange(fate)
            #expect(answer.count > Self.size && !isReset)
            #expect(Array(answer.suffix(3)) == (Self.size - 3..<Self.size).map { UInt8($0 % 251) })
        }
    }

    @Test("a refused connection is reset before a byte")
    func refuse() throws {
        let (answer, isReset) = try exchange(.refuse)
        #expect(answer.isEmpty && isReset)
    }

    @Test("a cut comes after exactly as many bytes", arguments: [ConnectionFate.Fault.close, .reset])
    func cut(_ fault: ConnectionFate.Fault) throws {
        let (answer, isReset) = try exchange(.fault(fault, .toClient, after: 70_001))
        // What is in the client's buffer when RST comes may be lost.
        #expect(fault == .close ? answer.count == 70_001 : answer.count <= 70_001)
        #expect(isReset == (fault == .reset))
        #expect(try exchange(.fault(fault, .toServer, after: 10)).answer.isEmpty)
    }

    @Test("one byte is another one, and all else is as it was")
    func corrupt() throws {
        let whole = try exchange(.pass).answer
        let other = try exchange(.fault(.corrupt, .toClient, after: 100_000)).answer
        #expect(zip(whole, other).enumerated().filter { $1.0 != $1.1 }.map(\.offset) == [100_000])
    }

    @Test("what stands still is freed by calm")
    func stall() throws {
        let (answer, _) = try exchange(.fault(.stall, .toClient, after: 5)) { proxy in proxy.calm() }
        #expect(answer.count <= 5)
    }

    @Test("a seed gives the same fates again, and different ones too")
    func seeded() {
        func fates(_ seed: UInt64) -> [ConnectionFate] {
            let randomness = SeededRandomness(seed: seed)
            return (0..<200).map { _ in .random(randomness, bytes: 1_000_000) }
        }
        #expect(fates(1) == fates(1))
        #expect(Set(fates(1)).count > 50)
    }

    /// All that a client reads of an answer through the proxy, and whether it ended with RST. `meanwhile` is called
    /// when five bytes are there.
    private func exchange(
        _ fate: ConnectionFate, meanwhile: (FaultProxy) -> Void = { _ in }
    ) throws -> (answer: [UInt8], isReset: Bool) {
        let server = try LoopbackServer { _ in
            ScriptedAnswer([.head(200, [("Content-Length", "\(Self.size)")]), .filled(Int64(Self.size)), .close])
        }
        let proxy = try FaultProxy()
        defer {
            proxy.stop()
            server.stop()
        }
        proxy.forward(to: server.port)
        proxy.choose { _ in fate }
        let client = try #require(LoopbackServer.connection(to: proxy.port))
        defer { close(client) }
        let request = Array("GET / HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
        let sent = request.withUnsafeBytes { LoopbackServer.systemSend(client, $0) }
        // An RST that comes before the request is told to whoever sends, and only once.
        if sent < 0 { return ([], errno == ECONNRESET || errno == EPIPE) }
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = recv(client, &buffer, buffer.count, 0)
            if count <= 0 { return (answer, count < 0 && errno == ECONNRESET) }
            answer += buffer[..<count]
            if answer.count >= 5 { meanwhile(proxy) }
        }
    }
}
