import Foundation
import JSONPath
import PipelineTestKit
import Testing

@Suite("Watching", .timeLimit(.minutes(2))) struct WatchTests {
    @Test("without a job it shows all that run, until none does")
    func all() async throws {
        let gate = Gate()
        let server = try LoopbackServer { _ in ScriptedAnswer([.wait(gate), .send(200, [], [])]) }
        defer { server.stop() }
        let (program, environment, folder) = try Self.place(server)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var jobs: [RunningProgram] = []
        for name in ["one", "two"] {
            try """
            { "pipeline": 1, "name": "\(name)",
              "stages": [ { "id": "get", "kind": "request", "request": { "GET": "${{ env.SERVER }}/" } } ] }
            """.write(toFile: "\(folder)/\(name).json", atomically: true, encoding: .utf8)
            jobs.append(try program.start(["run", "\(name).json"], environment: environment, folder: folder))
        }
        _ = await server.requests(atLeast: 2)
        let watch = try program.start(["watch", "--plain"], environment: environment, folder: folder)
        for name in ["one …", "two …"] { #expect(await watch.hasWritten(name)) }
        gate.open()
        let end = await watch.end
        #expect(end.cause == .exited(0), "\(end)")
        for name in ["one", "two"] {
            #expect(end.errors.contains(try Regex("\(name) ….{4} get: started")), "\(end)")
            #expect(end.errors.contains(try Regex("\(name) ….{4} get: done")), "\(end)")
        }
        for job in jobs { #expect(await job.end.cause == .exited(0)) }
    }

    // It followed that one alone, and ended with it.
    @Test("without a job it shows those that begin meanwhile also when a single one ran at its start")
    func meanwhile() async throws {
        let (first, second) = (Gate(), Gate())
        let server = try LoopbackServer { request in
            ScriptedAnswer([.wait(request.path == "/one" ? first : second), .send(200, [], [])])
        }
        defer { server.stop() }
        let (program, environment, folder) = try Self.place(server)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        func start(_ name: String) throws -> RunningProgram {
            try """
            { "pipeline": 1, "name": "\(name)",
              "stages": [ { "id": "get", "kind": "request", "request": { "GET": "${{ env.SERVER }}/\(name)" } } ] }
            """.write(toFile: "\(folder)/\(name).json", atomically: true, encoding: .utf8)
            return try program.start(["run", "\(name).json"], environment: environment, folder: folder)
        }
        let one = try start("one")
        _ = await server.requests(atLeast: 1)
        let watch = try program.start(["watch", "--plain"], environment: environment, folder: folder)
        #expect(await watch.hasWritten("get: started"))
        let two = try start("two")
        #expect(await watch.hasWritten("two …"))
        first.open()
        #expect(await one.end.cause == .exited(0))
        #expect(await watch.hasWritten("get: done"))
        #expect(watch.isRunning)
        second.open()
        let end = await watch.end
        #expect(end.cause == .exited(0), "\(end)")
        #expect(end.errors.contains(try Regex("two ….{4} get: done")), "\(end)")
        #expect(await two.end.cause == .exited(0))
    }

    @Test("shows how much of a transfer is done that another process drives, as it goes on")
    func progress() async throws {
        let (goesOn, ends) = (Gate(), Gate())
        let server = try LoopbackServer { _ in
            ScriptedAnswer([
                .head(200, [("Content-Length", "502")]), .bytes([1]), .wait(goesOn),
                .slowly([UInt8](repeating: 2, count: 500), milliseconds: 5), .wait(ends), .bytes([3]),
            ])
        }
        defer { server.stop() }
        let (program, environment, folder) = try Self.place(server)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try """
        { "pipeline": 1, "name": "get",
          "stages": [ { "id": "get", "kind": "download", "request": { "GET": "${{ env.SERVER }}/" }, "to": "x" } ] }
        """.write(toFile: "\(folder)/get.json", atomically: true, encoding: .utf8)
        let job = try program.start(["run", "get.json"], environment: environment, folder: folder)
        _ = await server.requests(atLeast: 1)
        let watch = try program.start(["watch", "--json"], environment: environment, folder: folder)
        #expect(await watch.hasWritten("stage.started"))
        goesOn.open()
        #expect(await watch.hasWritten("transfer.progress"))
        ends.open()
        let end = await watch.end
        #expect(end.cause == .exited(0), "\(end)")
        let lines = try end.output.split(separator: "\n").map { try JSON.parse(String($0)) }
        let told = lines.filter { $0["type"] == "transfer.progress" }
        #expect(told.count > 1 && told.allSatisfy { $0["data"]?["total"] == 502 && $0["seq"] == nil })
        #expect(lines.compactMap { $0["seq"]?.number?.int } == Array(1...lines.count - told.count))
        #expect(lines.last?["type"] == "job.succeeded")
        #expect(await job.end.cause == .exited(0))
    }

    @Test("says how long a stage still takes that began before anybody watched")
    func estimate() async throws {
        let gate = Gate()
        let server = try LoopbackServer { _ in ScriptedAnswer([.wait(gate), .send(200, [], [])]) }
        defer { server.stop() }
        let (program, environment, folder) = try Self.place(server)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try """
        { "pipeline": 1, "name": "get",
          "stages": [ { "id": "get", "kind": "request", "estimate": "1h", "request": { "GET": "${{ env.SERVER }}/" } } ] }
        """.write(toFile: "\(folder)/get.json", atomically: true, encoding: .utf8)
        let job = try program.start(["run", "get.json"], environment: environment, folder: folder)
        _ = await server.requests(atLeast: 1)
        let watch = try program.start(["watch", "--json"], environment: environment, folder: folder)
        #expect(await watch.hasWritten("estimate.changed"))
        gate.open()
        let lines = try await watch.end.output.split(separator: "\n").map { try JSON.parse(String($0)) }
        let told = try #require(lines.first { $0["type"] == "estimate.changed" })
        let median = try #require(told["data"]?["p50"]?.number?.double)
        #expect(told["stage"] == "get" && told["seq"] == nil && median > 600 && median <= 3600, "\(told.text)")
        #expect(await job.end.cause == .exited(0))
    }

    /// All that one saw was a line of counts every ten seconds.
    @Test("of a batch shows its items as they go on and end, those too that begin meanwhile")
    func batch() async throws {
        let (gate, last) = (Gate(), Gate())
        let server = try LoopbackServer { request in
            ScriptedAnswer([
                .wait(request.path == "/three" ? last : gate), .send(request.path == "/two" ? 404 : 200, [], []),
            ])
        }
        defer { server.stop() }
        let (program, environment, folder) = try Self.place(server)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try """
        { "pipeline": 1, "name": "get", "inputs": { "name": { "type": "string" } },
          "batch": { "key": "${{ inputs.name }}" },
          "stages": [
            { "id": "get", "kind": "request", "request": { "GET": "${{ env.SERVER }}/${{ inputs.name }}" } } ] }
        """.write(toFile: "\(folder)/get.json", atomically: true, encoding: .utf8)
        try ["one", "two", "three"].map { "{\"name\": \"\($0)\"}\n" }.joined()
            .write(toFile: "\(folder)/rows.jsonl", atomically: true, encoding: .utf8)
        let run = try program.start(
            ["run", "get.json", "--each", "rows.jsonl", "--batch", "june", "--at-once", "2"], environment: environment,
            folder: folder)
        _ = await server.requests(atLeast: 2)
        let plain = try program.start(["watch", "june", "--plain"], environment: environment, folder: folder)
        let events = try program.start(["watch", "june", "--json"], environment: environment, folder: folder)
        #expect(await plain.hasWritten("june: 0/3 succeeded"), "\(plain.text)")
        #expect(await events.hasWritten("stage.started", times: 2), "\(events.text)")
        gate.open()
        #expect(await plain.hasWritten("✗ two: stage 'get': "), "\(plain.text)")
        _ = await server.requests(atLeast: 3)
        #expect(await events.hasWritten("stage.started", times: 3), "\(events.text)")
        last.open()
        let (told, seen) = (await plain.end, await events.end)
        #expect(told.cause == .exited(1) && told.errors.contains("june: 2/3 succeeded, 1 failed"), "\(told)")
        let types = try seen.output.split(separator: "\n").map { try JSON.parse(String($0))["type"]?.string }
        #expect(types.count { $0 == "job.succeeded" } == 2 && types.count { $0 == "job.failed" } == 1, "\(seen)")
        #expect(await run.end.cause == .exited(1))
    }

    /// The program, and a folder of its own with a state folder of its own.
    private static func place(
        _ server: LoopbackServer
    ) throws -> (program: BuiltProgram, environment: [String: String], folder: String) {
        let folder = FileManager.default.temporaryDirectory.appending(path: "watch-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let environment = BuiltProgram.environment(home: folder, ["SERVER": server.url])
        return (try BuiltProgram(named: "pipeline"), environment, folder)
    }
}
