import Foundation
import JSONPath
import PipelineTestKit
import Testing

@Suite("A server that is dead, silent or lying loses no job")
struct BadServerTests {
    @Test("a server that refuses leaves the job suspended, and resume goes on once it is there")
    func refusing() async throws {
        let port = try LoopbackServer.unusedPort()
        try await withWorkplace { workplace in
            let end = try await put(workplace, "http://127.0.0.1:\(port)")
            expectSuspended(end)
            #expect(end.errors.contains("127.0.0.1:\(port) refused the connection"), "\(end)")
            #expect(try await workplace.show()["cause"] == "noNetwork")
            try await workplace.checkEvents()
        }
    }

    @Test("a server that accepts nothing, and one that never answers, leave the job suspended")
    func hanging() async throws {
        let deaf = try DeafListener()
        let silent = try LoopbackServer { _ in .silence }
        defer { silent.stop() }
        for port in [deaf.port, silent.port] {
            try await withWorkplace { workplace in
                expectSuspended(try await put(workplace, "http://127.0.0.1:\(port)"))
            }
        }
    }

    @Test("what a person sees of a refusal has the request, the status and the start of the body")
    func refusal() async throws {
        let server = try LoopbackServer { _ in .status(422, body: #"{"detail":"the file is too blue"}"#) }
        defer { server.stop() }
        try await withWorkplace { workplace in
            let end = try await put(workplace, server.url)
            #expect(end.cause == .exited(1), "\(end)")
            for said in ["422", "the file is too blue", "PUT \(server.url)/file", "service 'server'"] {
                #expect(end.errors.contains(said), "\(said): \(end)")
            }
            let job = try await workplace.show()
            #expect(job["error"]?["status"]?.number?.int == 422)
            // What was sent was sent, whatever came of it.
            #expect(job["stages"]?.array?.first?["bytesSent"]?.number?.int == "content".utf8.count)
            #expect(server.requests.count == 1)
        }
    }

    /// Answers to a download that are not what they say, and what is told of them.
    static let lies: [(String, ScriptedAnswer)] = [
        ("garbage", .garbage), ("a truncated body", .truncated(100_000, after: 5_000)),
        (
            "a wrong digest",
            .status(200, headers: [("Repr-Digest", "sha-256=:\(String(repeating: "A", count: 43))=:")], body: "x")
        ),
        ("a reset", .reset()),
    ]

    @Test("a lying server never makes a file", arguments: lies.indices)
    func lying(_ index: Int) async throws {
        let answer = Self.lies[index].1
        let server = try LoopbackServer { _ in answer }
        defer { server.stop() }
        try await withWorkplace { workplace in
            let end = try await download(workplace, server.url)
            #expect([.exited(1), .exited(75)].contains(end.cause), "\(Self.lies[index].0): \(end)")
            #expect(!FileManager.default.fileExists(atPath: workplace.output + "/file.bin"))
            #expect(end.output.isEmpty)
            #expect(end.errors.contains("pipeline resume"), "\(end)")
        }
    }

    @Test("a byte that was changed on the way is noticed by the digest, and the file fetched once more")
    func corrupted() async throws {
        let content = Array(repeating: UInt8(7), count: 50_000)
        let digest = "sha-256=:S0EX4tDExNMJb1wnolve2oat8mrb7nIf7v1w1BgIpKo=:"
        let server = try LoopbackServer { _ in .status(200, headers: [("Repr-Digest", digest)], bytes: content) }
        let proxy = try FaultProxy()
        defer {
            proxy.stop()
            server.stop()
        }
        proxy.forward(to: server.port)
        proxy.choose { $0 == 1 ? .fault(.corrupt, .toClient, after: 30_000) : .pass }
        try await withWorkplace { workplace in
            let end = try await download(workplace, proxy.url)
            #expect(end.cause == .exited(0), "\(end)")
            #expect(end.errors.contains("try 1 failed: the downloaded file is not the one that was wanted"), "\(end)")
            let isSame = workplace.bytes(workplace.output + "/file.bin") == content
            #expect(isSame)
        }
    }

    @Test("a file that changes while it is sent fails the job and is never spliced", arguments: [true, false])
    func changing(_ grows: Bool) async throws {
        let (isReading, hasChanged) = (Gate(), Gate())
        let server = try LoopbackServer.beforeBody { _ in
            ScriptedAnswer([.read(1000), .open(isReading), .wait(hasChanged), .readBody, .send(200, [], [])])
        }
        defer { server.stop() }
        try await withWorkplace { workplace in
            try workplace.write(
                "put.json", Documents.put.replacingOccurrences(of: #""timeout": "500ms""#, with: #""timeout": "20s""#))
            let file = try workplace.write("file.bin", [UInt8](repeating: 1, count: 20_000_000))
            let program = try workplace.start(
                "run", "put.json", "-i", "file=\(file)", environment: ["SERVER_URL": server.url])
            await isReading.wait()
            truncate(file, grows ? 20_000_001 : 1000)
            hasChanged.open()
            let end = await program.end
            #expect(end.cause == .exited(1), "\(end)")
            #expect(end.errors.contains("the file changed while it was being uploaded: \(file)"), "\(end)")
            #expect(end.errors.contains("hint: "))
        }
    }

    @Test("an empty file is sent as it is")
    func empty() async throws {
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        try await withWorkplace { workplace in
            let end = try await put(workplace, server.url, content: "")
            #expect(end.cause == .exited(0), "\(end)")
            #expect(server.requests.map(\.bodyCount) == [0])
        }
    }

    private func put(_ workplace: Workplace, _ url: String, content: String = "content") async throws -> ProgramEnd {
        try workplace.write("put.json", Documents.put)
        try workplace.write("file.txt", content)
        return try await workplace.run(
            "run", "put.json", "-i", "file=file.txt", environment: ["SERVER_URL": url])
    }

    private func download(_ workplace: Workplace, _ url: String) async throws -> ProgramEnd {
        try workplace.write("fetch.json", Documents.download)
        return try await workplace.run(
            "run", "fetch.json", "--output", workplace.output, environment: ["SERVER_URL": url])
    }

    private func expectSuspended(_ end: ProgramEnd) {
        #expect(end.cause == .exited(75), "\(end)")
        #expect(end.output.isEmpty)
        #expect(end.errors.contains("go on with: pipeline resume "), "\(end)")
    }
}
