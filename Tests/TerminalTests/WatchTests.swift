import Foundation
import PipelineTestKit
import Testing

@Suite("Watching", .timeLimit(.minutes(2))) struct WatchTests {
    @Test("without a job it shows all that run, until none does")
    func all() async throws {
        let gate = Gate()
        let server = try LoopbackServer { _ in ScriptedAnswer([.wait(gate), .send(200, [], [])]) }
        defer { server.stop() }
        let folder = FileManager.default.temporaryDirectory.appending(path: "watch-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var environment = [
            "HOME": folder, "PATH": "/usr/bin:/bin", "PIPELINE_STATE_DIR": folder + "/state", "SERVER": server.url,
        ]
        environment["LD_LIBRARY_PATH"] = ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"]
        let program = try BuiltProgram(named: "pipeline")
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
}
