import Foundation
import JSONPath
import PipelineTestKit
import Synchronization
import Testing

/// Jobs with a stage in Swift of one's own, in the background.
@Suite("A stage of one's own in the background", .timeLimit(.minutes(2))) struct OwnDaemonTests {
    /// A state folder, and the programs that work on it.
    private struct Place {
        let bench: ExampleBench

        private var environment: [String: String] { BuiltProgram.environment(home: bench.folder) }

        func run(_ program: String, _ arguments: String...) async throws -> ProgramEnd {
            try await BuiltProgram(named: program).run(arguments, environment: environment, folder: bench.folder)
        }

        func start(_ program: String) throws -> RunningProgram {
            try BuiltProgram(named: program).start([], environment: environment, folder: bench.folder)
        }

        /// The process of the background owner that a command started.
        var owner: Int32? {
            let log = (try? String(contentsOfFile: bench.folder + "/state/daemon.log", encoding: .utf8)) ?? ""
            return log.split(separator: "\n").last { $0.contains("ready, process ") }
                .flatMap { $0.split(separator: "process ").last }.flatMap { Int32($0.prefix { $0.isNumber }) }
        }

        func show() async throws -> JSON {
            try JSON.parse(Array(try await run("example-pipeline", "show", "last", "--json").output.utf8))
        }
    }

    private func withPlace(_ body: (Place) async throws -> Void) async throws {
        let place = Place(bench: try ExampleBench())
        defer { place.bench.remove() }
        do {
            try await body(place)
        } catch {
            if let owner = place.owner { await ForeignProcess(owner).end(by: SIGKILL) }
            throw error
        }
        if let owner = place.owner { await ForeignProcess(owner).end(by: SIGKILL) }
    }

    @Test("it is detached, killed with -9, and goes on from its checkpoint with the next owner")
    func detached() async throws {
        try await withPlace { place in
            let content = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 * 7) }
            try Data(content).write(to: URL(fileURLWithPath: place.bench.folder + "/a.bin"))
            let resource = Mutex(Resource())
            let (held, hold) = AsyncStream<Void>.makeStream()
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
                        .readBody,
                        .then { request in
                            resource.withLock { resource in
                                let answer = resource.take(request)
                                if answer == nil { hold.yield() }
                                return answer ?? ScriptedAnswer([.stall])
                            }
                        },
                    ])
                }
            }
            defer { server.stop() }
            try """
            { "pipeline": 1, "name": "append", "retry": { "delay": "10ms", "jitter": "none" }, "stages": [
                { "id": "send", "kind": "append", "file": "a.bin", "to": "\(server.url)/a", "part": 30000 } ] }
            """.write(toFile: place.bench.folder + "/append.json", atomically: true, encoding: .utf8)
            let begun = try await place.run("example-pipeline", "run", "append.json", "--detach")
            #expect(begun.cause == .exited(0), "\(begun)")
            var parts = held.makeAsyncIterator()
            _ = await parts.next()
            let owner = try #require(place.owner)
            await ForeignProcess(owner).end(by: SIGKILL)
            #expect(try await place.show()["state"] == "suspended")
            let again = try await place.run("example-pipeline", "resume", "last", "--detach")
            #expect(again.cause == .exited(0), "\(again)")
            let watched = try await place.run("example-pipeline", "watch", "last")
            #expect(watched.cause == .exited(0), "\(watched)")
            #expect(try await place.show()["state"] == "succeeded")
            #expect(resource.withLock { $0.bytes } == content)
            #expect(resource.withLock { $0.asked } == 1, "the second owner begins from the checkpoint")
        }
    }

    /// Only the journal's event named it, and the advice was to resume the batch.
    @Test("an owner without its extension lets a batch wait, and 'why' names what it lacks")
    func batchUnknownHere() async throws {
        try await withPlace { place in
            try "n\n1\n2\n".write(toFile: place.bench.folder + "/rows.csv", atomically: true, encoding: .utf8)
            try """
            { "pipeline": 1, "name": "count", "inputs": { "n": { "type": "string" } },
              "stages": [ { "id": "count", "kind": "countLines", "file": "rows.csv" } ] }
            """.write(toFile: place.bench.folder + "/count.json", atomically: true, encoding: .utf8)
            let plain = try place.start("pipeline-daemon")
            #expect(await plain.hasWritten("ready"))
            let begun = try await place.run(
                "example-pipeline", "run", "count.json", "--each", "rows.csv", "--batch", "june", "--detach")
            #expect(begun.cause == .exited(0), "\(begun)")
            #expect(await plain.hasWritten("waits: "))
            let why = try await place.run("example-pipeline", "why", "june")
            #expect(why.output.contains("'countLines'") && why.output.contains("install the plugin"), "\(why)")
            plain.signal(SIGTERM)
            _ = await plain.end
        }
    }

    @Test("an owner without its extension lets the job wait and says so, and one with it goes on")
    func unknownHere() async throws {
        try await withPlace { place in
            try "one\ntwo\n".write(toFile: place.bench.folder + "/a.txt", atomically: true, encoding: .utf8)
            try """
            { "pipeline": 1, "name": "count", "stages": [
                { "id": "count", "kind": "countLines", "file": "a.txt" },
                { "id": "keep", "kind": "write", "to": "count.txt", "text": "${{ stages.count.lines }}" } ] }
            """.write(toFile: place.bench.folder + "/count.json", atomically: true, encoding: .utf8)
            let plain = try place.start("pipeline-daemon")
            #expect(await plain.hasWritten("ready"))
            let begun = try await place.run("example-pipeline", "run", "count.json", "--detach")
            #expect(begun.cause == .exited(0), "\(begun)")
            #expect(await plain.hasWritten("waits: "))
            for program in ["pipeline", "example-pipeline"] {
                let why = try await place.run(program, "why", "last")
                #expect(why.cause == .exited(0) && why.output.contains("is suspended"), "\(why)")
                #expect(why.output.contains("does not know all that its document names"), "\(why)")
                #expect(why.output.contains("'countLines'"), "\(why)")
                let shown = try await place.run(program, "show", "last")
                #expect(shown.output.contains("'countLines'"), "\(shown)")
            }
            let job = try await place.show()
            #expect(job["state"] == "suspended" && job["cause"] == "extension" && job["error"] == .null)
            plain.signal(SIGTERM)
            _ = await plain.end
            let own = try place.start("example-pipeline-daemon")
            #expect(await own.hasWritten("succeeded"))
            let end = try await place.show()
            #expect(end["state"] == "succeeded" && end["cause"] == .null)
            own.signal(SIGTERM)
            _ = await own.end
        }
    }
}

/// What the server has of the file. Its second part is taken, and never acknowledged.
private struct Resource {
    var bytes: [UInt8] = []
    var parts = 0
    var asked = 0

    /// The answer to a part; nil for none.
    mutating func take(_ request: ReceivedRequest) -> ScriptedAnswer? {
        let range = request.header("X-Update-Range")?.dropFirst("bytes=".count).split(separator: "-") ?? []
        guard request.method == "PATCH", let start = range.first.flatMap({ Int($0) }), start <= bytes.count else {
            return .status(400)
        }
        parts += 1
        bytes = bytes[..<start] + request.body
        return parts == 2 ? nil : ScriptedAnswer([.send(204, [], [])])
    }
}
