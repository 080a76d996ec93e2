import Foundation
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
        var environment: [String: String] = [:]
        environment["LD_LIBRARY_PATH"] = ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"]
        let end = try await program.run([server.url, "t0p"], environment: environment, folder: bench.folder)
        #expect(end.lines == ["2 releases", "note 7", "status 200, 100000 bytes of two.bin"], "\(end)")
        let file = FileManager.default.contents(atPath: bench.folder + "/two.bin")
        #expect(file?.count == 100_000)
        let refused = try await program.run([server.url, "other"], environment: environment, folder: bench.folder)
        #expect(refused.output.contains("was answered with status 401. Check the credentials"), "\(refused)")
    }
}
