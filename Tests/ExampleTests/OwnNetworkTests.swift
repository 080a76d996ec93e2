import Foundation
import PipelineKit
import PipelineTestKit
import Testing

/// The program of "Using the network stack in your own Swift program": it is built from what the guide prints.
@Suite("A program with the network stack alone") struct OwnNetworkTests {
    @Test("the guide prints the program that is built, piece by piece")
    func guide() throws {
        let root = ExampleTests.root.path
        let page = try String(
            contentsOfFile: root + "/Sources/PipelineKit/PipelineKit.docc/UsingTheNetworkStack.md", encoding: .utf8)
        let code = try String(contentsOfFile: root + "/Sources/example-network/main.swift", encoding: .utf8)
        let blocks = page.components(separatedBy: "```swift\n").dropFirst()
            .compactMap { $0.components(separatedBy: "```").first }
        #expect(blocks.count == 10)
        for block in blocks where !block.hasPrefix(".p") { #expect(code.contains(block), "\(block)") }
        #expect(blocks.contains { $0.contains(".product(name: \"PipelineHTTP\"") })
    }

    private struct FetchNothing: RequestTemplate {
        var path: String { "/" }
        typealias Output = Empty
    }

    @Test("every decorator that the guide names can be put on a template")
    func decorators() throws {
        let page = try GuidePage(named: "UsingTheNetworkStack").lines.joined(separator: "\n")
        let rows = page.split(separator: "\n").filter { $0.hasPrefix("| `.") }.joined()
        let named = Set(rows.matches(of: /`\.([a-z0-9A-Z]+)\(/).map { String($0.output.1) })
        let template = FetchNothing()
        let grant = TokenGrant(tokenURL: "http://h/token", clientID: "c", clientSecret: "s")
        let made: [String: [any RequestDecorator]] = [
            "bearer": template.bearer("t").decorators, "basic": template.basic(user: "u", password: "p").decorators,
            "apiKey": template.apiKey(.header("X-Key"), value: "k").decorators,
            "oauth2": template.oauth2(grant).decorators, "idempotent": template.idempotent("k").decorators,
            "headers": template.headers([("X-A", "1")]).decorators,
            "query": template.query([("a", "1")]).decorators, "prefer": template.prefer("wait=5").decorators,
            "multipart": template.multipart([]).decorators, "cached": template.cached().decorators,
            "decorated": template.decorated(by: Bearer(token: "t")).decorators,
        ]
        #expect(named == Set(made.keys))
        for (name, decorators) in made { #expect(decorators.count == 1, "\(name)") }
        let kinds = Set(made.values.map { String(describing: type(of: $0[0])) })
        #expect(kinds.count == made.count - 1)
    }

    private static func answer(_ request: ReceivedRequest) -> ScriptedAnswer {
        guard request.header("Authorization") == "Bearer t0p" else { return .status(401) }
        let json = ("Content-Type", "application/json")
        switch (request.method, request.target) {
        case ("GET", "/projects/demo/releases"):
            return .status(
                200, headers: [json, ("Link", "</projects/demo/releases?page=2>; rel=\"next\"")],
                body: #"[{"name": "two.bin", "file": "/files/2"}]"#)
        case ("GET", "/projects/demo/releases?page=2"):
            return .status(200, headers: [json], body: #"[{"name": "one.bin", "file": "/files/1"}]"#)
        case ("POST", "/notes"):
            guard request.header("Idempotency-Key") == "note-1", request.text == #"{"text":"hello"}"# else {
                return .status(400)
            }
            return .status(201, headers: [json], body: #"{"id": 7, "text": "hello"}"#)
        case ("GET", "/files/2"): return .filled(100_000)
        default: return .status(404)
        }
    }

    @Test("it follows pages, posts under a key, and downloads with progress; a refusal is told in words")
    func runs() async throws {
        let bench = try ExampleBench()
        defer { bench.remove() }
        let server = try LoopbackServer(Self.answer)
        defer { server.stop() }
        let program = try BuiltProgram(named: "example-network")
        let environment = BuiltProgram.environment([:])
        let end = try await program.run([server.url, "t0p"], environment: environment, folder: bench.folder)
        #expect(end.lines == ["2 releases", "note 7", "status 200, 100000 bytes of two.bin"], "\(end)")
        let file = FileManager.default.contents(atPath: bench.folder + "/two.bin")
        #expect(file?.count == 100_000)
        let refused = try await program.run([server.url, "other"], environment: environment, folder: bench.folder)
        #expect(refused.output.contains("was answered with status 401. Check the credentials"), "\(refused)")
    }
}
