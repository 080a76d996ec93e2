import PipelineCore
@testable import PipelineKit
import PipelineTestKit
import Testing

@testable import PipelineDaemon

/// The receiver over real connections.
@Suite("The receiver's connections", .serialized, .timeLimit(.minutes(1)))
struct ReceiverServerTests {
    private static let request = "POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

    /// - Parameter recognized: is told each path that the server has recognised.
    private static func server(
        port: Int = 0, recognized: AsyncStream<String>.Continuation? = nil
    ) async throws -> ReceiverServer {
        try await ReceiverServer.start(
            at: ListenAddress(parsing: "127.0.0.1:\(port)"),
            isKnown: { path in
                defer { recognized?.yield(path) }
                return path == "/known"
            }, refused: { _ in }, answer: { _ in .taken })
    }

    @Test("an address that another has is refused with what it is for")
    func occupied() async throws {
        let server = try await Self.server()
        let failure = await #expect(throws: StepFailure.self) { _ = try await Self.server(port: server.port) }
        #expect(
            failure?.title == "cannot listen for callbacks on 127.0.0.1:\(server.port): address already in use")
        await server.stop()
    }

    @Test("connections that are held open keep no callback out: the oldest goes")
    func idle() async throws {
        let server = try await Self.server()
        let held = try (0..<ReceiverServer.connectionLimit).map { _ in try RawConnection(port: server.port) }
        for _ in 0..<3 {
            let next = try RawConnection(port: server.port)
            next.send(Self.request)
            #expect(await next.rest().hasPrefix("HTTP/1.1 204"))
        }
        // The first one was let go without a word; the last one is still served.
        #expect(await held[0].rest().isEmpty)
        held[held.count - 1].send(Self.request)
        #expect(await held[held.count - 1].rest().hasPrefix("HTTP/1.1 204"))
        await server.stop()
    }

    /// Of those who send and leave two in ten were heard.
    @Test("a push that is whole is answered also when its sender has left")
    func hasty() async throws {
        let (answered, answering) = AsyncStream.makeStream(of: Bool.self)
        let server = try await ReceiverServer.start(
            at: ListenAddress(parsing: "127.0.0.1:0"), isKnown: { _ in true }, refused: { _ in }
        ) { _ in
            for _ in 0..<20 { await Task.yield() }
            answering.yield(Task.isCancelled)
            return .taken
        }
        for _ in 0..<10 { try RawConnection(port: server.port).send(Self.request) }
        for await isCancelled in answered.prefix(10) { #expect(!isCancelled) }
        await server.stop()
    }

    /// It was closed without a byte after a quarter of a minute, and services took that for a broken receiver.
    @Test("a push that can't be kept for so long, since the journal is away, is answered 503")
    func slowJournal() async throws {
        let (journal, back) = AsyncStream.makeStream(of: Void.self)
        let server = try await ReceiverServer.start(
            at: ListenAddress(parsing: "127.0.0.1:0"), patience: .milliseconds(100), isKnown: { _ in true },
            refused: { _ in }
        ) { _ in
            for await _ in journal {}
            return .taken
        }
        let connection = try RawConnection(port: server.port)
        connection.send(Self.request)
        let answer = await connection.rest()
        #expect(answer.hasPrefix("HTTP/1.1 503") && answer.contains("Retry-After: 5"), "\(answer)")
        back.finish()
        await server.stop()
    }

    @Test("those that bring the address of a callback stay; one more than they is answered 503 and closed")
    func known() async throws {
        let (recognized, recognizing) = AsyncStream.makeStream(of: String.self)
        var paths = recognized.makeAsyncIterator()
        let server = try await Self.server(recognized: recognizing)
        let begun = "POST /known HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{"
        var held: [RawConnection] = []
        while true {
            let connection = try RawConnection(port: server.port)
            connection.send(begun)
            held.append(connection)
            #expect(await paths.next() == "/known")
            guard held.count >= ReceiverServer.connectionLimit else { continue }
            let refused = try RawConnection(port: server.port)
            refused.send(Self.request)
            let answer = await refused.rest()
            // The next one may come between the server's question who the last one is and its answer: then that one went.
            guard answer.hasPrefix("HTTP/1.1 503") else { continue }
            #expect(answer.contains("Retry-After: 10\r\n") && answer.contains("Connection: close\r\n"))
            #expect(answer.hasSuffix("too many connections\n"))
            break
        }
        let last = held[held.count - 1]
        last.send("}")
        #expect(await last.rest().hasPrefix("HTTP/1.1 204"))
        await server.stop()
    }
}
