import PipelineTestKit
import Testing

/// Workers as processes on a database of their own, and a service whose jobs end once it is opened.
struct WorkerScene {
    let workplace: Workplace
    let service: HeldService
    let server: PostgresServer
    let database: String

    var environment: [String: String] {
        ["API_URL": service.server.url, "PIPELINE_JOURNAL": server.address(of: database)]
    }

    func run(_ arguments: String..., environment more: [String: String] = [:]) async throws -> ProgramEnd {
        try await workplace.program.run(
            arguments, environment: workplace.environment(environment.merging(more) { $1 }),
            folder: workplace.folder)
    }

    func startWorker(
        _ name: String, atOnce: Int = 8, environment more: [String: String] = [:]
    ) async throws -> RunningProgram {
        let worker = try workplace.program.start(
            ["worker", "--at-once", "\(atOnce)", "--state-dir", workplace.path(name)],
            environment: workplace.environment(environment.merging(more) { $1 }), folder: workplace.folder,
            limit: .seconds(300))
        #expect(await worker.hasWritten("ready"), "\(worker.text)")
        return worker
    }

    func submit(_ names: some Sequence<String>) async throws {
        for name in names {
            let end = try await run("run", "held.json", "-i", "name=\(name)", "--key", name, "--detach")
            #expect(end.cause == .exited(0), "\(end)")
        }
    }

    func count(_ sql: String) async throws -> Int { Int(try await server.query(sql, in: database)) ?? -1 }

    /// Waits until a question to the database has that answer; each takes some time by itself.
    func wait(for sql: String, toBe count: Int) async throws {
        for _ in 0..<3000 where try await self.count(sql) == count { return }
        Issue.record("\(sql) is \(try await self.count(sql)), not \(count)")
    }

    /// The dead worker's lease runs out, sooner than by itself.
    func expire(_ worker: RunningProgram) async throws {
        try await server.query(
            "UPDATE pipeline.workers SET lease_until = now() WHERE id LIKE '%-\(worker.processID)-%'", in: database)
    }
}

/// Calls a test with workers to be started, in a folder that is removed after it.
func withWorkers(_ body: (WorkerScene) async throws -> Void) async throws {
    try await withWorkplace { workplace in
        let service = try HeldService()
        defer { service.server.stop() }
        let server = try await PostgresServer.shared()
        try workplace.write("held.json", HeldService.document)
        let scene = WorkerScene(
            workplace: workplace, service: service, server: server, database: try await server.makeDatabase())
        let end = try await scene.run("journal", "migrate")
        #expect(end.cause == .exited(0), "\(end)")
        try await body(scene)
    }
}
