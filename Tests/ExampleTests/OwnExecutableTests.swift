import Foundation
import JSONPath
import PipelineTestKit
import Synchronization
import Testing

/// The executable that the guides show: it is built from what they print, and does what they say.
@Suite("An executable of one's own", .timeLimit(.minutes(2))) struct OwnExecutableTests {
    private static let root = ExampleTests.root.path

    private func run(_ arguments: [String], in bench: ExampleBench) async throws -> ProgramEnd {
        try await BuiltProgram(named: "example-pipeline").run(
            arguments, environment: BuiltProgram.environment(home: bench.folder), folder: bench.folder)
    }

    private static func page(_ name: String) throws -> String {
        try String(contentsOfFile: root + "/Sources/PipelineKit/PipelineKit.docc/\(name).md", encoding: .utf8)
    }

    @Test(
        "the guides print the files that are built",
        arguments: [
            ("WritingAStage", "example-pipeline/main"), ("WritingAStage", "ExampleStages/ExampleStages"),
            ("WritingAStage", "ExampleStages/CountLines"), ("WritingAStage", "ExampleStages/ClientName"),
            ("DetachingYourOwnStages", "example-pipeline-daemon/main"),
        ])
    func guide(page: String, file: String) throws {
        let code = try String(contentsOfFile: Self.root + "/Sources/\(file).swift", encoding: .utf8)
        #expect(try Self.page(page).contains("```swift\n\(code)```"), "the guide's \(file).swift is another")
        #expect(code.split(separator: "\n").count <= 45)
    }

    @Test("the guide's package is one, and names products that there are")
    func package() throws {
        let bench = try ExampleBench()
        defer { bench.remove() }
        let page = try Self.page("WritingAStage")
        let manifest = try #require(
            page.components(separatedBy: "```swift\n").dropFirst().first?.components(separatedBy: "```").first)
        try manifest.write(toFile: bench.folder + "/Package.swift", atomically: true, encoding: .utf8)
        let dump = Process()
        dump.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        dump.arguments = ["swift", "package", "--package-path", bench.folder, "dump-package"]
        let output = Pipe()
        dump.standardOutput = output
        try dump.run()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        dump.waitUntilExit()
        #expect(dump.terminationStatus == 0)
        let described = try JSON.parse(Array(text))
        let dependencies = described["targets"]?.array?.flatMap { $0["dependencies"]?.array ?? [] } ?? []
        let products = dependencies.compactMap { $0["product"]?.array?.first?.string }
        #expect(Set(products) == ["PipelineCommands", "PipelineDaemon", "PipelineKit"])
        let own = try String(contentsOfFile: Self.root + "/Package.swift", encoding: .utf8)
        for name in products { #expect(own.contains(".library(name: \"\(name)\"")) }
    }

    @Test("its stage counts lines, and its kinds are part of the schema")
    func counts() async throws {
        let bench = try ExampleBench()
        defer { bench.remove() }
        try "one\ntwo\nthree\n".write(toFile: bench.folder + "/a.txt", atomically: true, encoding: .utf8)
        try """
        { "pipeline": 1, "name": "count", "stages": [
            { "id": "count", "kind": "countLines", "file": "a.txt" },
            { "id": "keep", "kind": "write", "to": "count.txt", "text": "${{ stages.count.lines }}" } ] }
        """.write(toFile: bench.folder + "/count.json", atomically: true, encoding: .utf8)
        let end = try await run(["run", "count.json"], in: bench)
        #expect(end.cause == .exited(0), "\(end)")
        #expect(try String(contentsOfFile: bench.folder + "/count.txt", encoding: .utf8) == "3")
        let schema = try await run(["schema"], in: bench)
        #expect(schema.output.contains("\"countLines\"") && schema.output.contains("\"append\""))
    }

    @Test("its decorator says who sends, and its sink writes what happened")
    func decoratesAndNotifies() async throws {
        let bench = try ExampleBench()
        defer { bench.remove() }
        let server = try LoopbackServer { request in .status(request.header("X-Client") == "mine" ? 204 : 400) }
        defer { server.stop() }
        try """
        { "pipeline": 1, "name": "ask", "retry": { "attempts": 1 },
          "notify": [ { "on": ["succeeded"], "logFile": "\(bench.folder)/jobs.log" } ],
          "stages": [ { "id": "ask", "kind": "request",
            "request": { "GET": "\(server.url)/a", "with": [ { "clientName": "mine" } ] } } ] }
        """.write(toFile: bench.folder + "/ask.json", atomically: true, encoding: .utf8)
        let end = try await run(["run", "ask.json"], in: bench)
        #expect(end.cause == .exited(0), "\(end)")
        let log = try String(contentsOfFile: bench.folder + "/jobs.log", encoding: .utf8)
        #expect(log.split(separator: "\n").count == 1 && log.contains("ask"), "\(log)")
    }

    @Test("its transfer protocol goes on where the server is after an interruption")
    func appends() async throws {
        let bench = try ExampleBench()
        defer { bench.remove() }
        let content = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 * 7) }
        try Data(content).write(to: URL(fileURLWithPath: bench.folder + "/a.bin"))
        let resource = Mutex(Resource())
        let server = try LoopbackServer { request in
            switch request.method {
            case "PUT": return .status(201)
            case "HEAD":
                return resource.withLock { resource in
                    resource.asked += 1
                    return ScriptedAnswer([.readBody, .head(200, [("Content-Length", "\(resource.bytes.count)")])])
                }
            default:
                return ScriptedAnswer([
                    .readBody, .then { request in resource.withLock { $0.take(request) } },
                ])
            }
        }
        defer { server.stop() }
        try """
        { "pipeline": 1, "name": "append", "retry": { "delay": "10ms", "jitter": "none" }, "stages": [
            { "id": "send", "kind": "append", "file": "a.bin", "to": "\(server.url)/a", "part": 30000 } ] }
        """.write(toFile: bench.folder + "/append.json", atomically: true, encoding: .utf8)
        let end = try await run(["run", "append.json"], in: bench)
        #expect(end.cause == .exited(0), "\(end)")
        let isSame = resource.withLock { $0.bytes } == content
        #expect(isSame, "the server has something else")
        #expect(resource.withLock { $0.asked } == 1)
    }
}

/// What the server has of the file. Its second part is taken, and not acknowledged.
private struct Resource {
    var bytes: [UInt8] = []
    var parts = 0
    var asked = 0

    mutating func take(_ request: ReceivedRequest) -> ScriptedAnswer {
        let range = request.header("X-Update-Range")?.dropFirst("bytes=".count).split(separator: "-") ?? []
        guard request.method == "PATCH", let start = range.first.flatMap({ Int($0) }), start <= bytes.count else {
            return .status(400)
        }
        parts += 1
        bytes = bytes[..<start] + request.body
        return parts == 2 ? ScriptedAnswer([.reset]) : ScriptedAnswer([.send(204, [], [])])
    }
}
