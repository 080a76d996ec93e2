import Foundation
import PipelineTestKit
import Testing

/// Commands while the server of the journal is stopped.
@Suite(
    "A database that is away", .timeLimit(.minutes(3)),
    .enabled(if: PostgresServer.isAvailable, Comment(rawValue: PostgresServer.howTo)))
struct OutageTests {
    private struct Scene {
        let workplace: Workplace
        let service: HeldService
        let server: PostgresServer
        let environment: [String: String]

        func run(_ arguments: String...) async throws -> ProgramEnd {
            try await workplace.program.run(
                arguments, environment: workplace.environment(environment), folder: workplace.folder)
        }

        func start(_ arguments: String...) throws -> RunningProgram {
            try workplace.program.start(
                arguments, environment: workplace.environment(environment), folder: workplace.folder,
                limit: .seconds(120))
        }
    }

    /// A server of its own, which the body may stop.
    private func withScene(_ body: (Scene) async throws -> Void) async throws {
        let server = try await PostgresServer()
        let database = try await server.makeDatabase()
        try await withWorkplace { workplace in
            let service = try HeldService()
            defer { service.server.stop() }
            try workplace.write("held.json", HeldService.document)
            let scene = Scene(
                workplace: workplace, service: service, server: server,
                environment: ["API_URL": service.server.url, "PIPELINE_JOURNAL": server.address(of: database)])
            let end = try await scene.run("journal", "migrate")
            #expect(end.cause == .exited(0), "\(end)")
            try await body(scene)
        }
        await server.remove()
    }

    @Test("is named by every command, with what is not lost and what to do; and is asked again once it is back")
    func isNamed() async throws {
        try await withScene { scene in
            scene.service.open()
            let run = try await scene.run("run", "held.json", "-i", "name=one", "--key", "one")
            #expect(run.cause == .exited(0), "\(run)")
            await scene.server.stop()
            let commands = [
                ["why", "one"], ["show", "one"], ["list"], ["watch", "one"], ["logs", "one"], ["workers"], ["doctor"],
                ["run", "held.json", "-i", "name=two", "--key", "two"], ["worker"],
            ]
            for command in commands {
                let end = try await scene.workplace.program.run(
                    command, environment: scene.workplace.environment(scene.environment),
                    folder: scene.workplace.folder)
                #expect(end.cause == .exited(75), "\(command): \(end)")
                #expect(end.errors.contains("error: the database postgres://pipeline@/test1?host=/"), "\(end)")
                #expect(end.errors.contains(" is away: "), "\(end)")
                #expect(end.errors.contains("  hint: what it has is not lost"), "\(command): \(end)")
            }
            try await scene.server.start()
            let why = try await scene.run("why", "one")
            #expect(why.cause == .exited(0) && why.output.contains("succeeded"), "\(why)")
            #expect(scene.service.names == ["one"])
        }
    }

    @Test("is waited for by a run, its watcher and a worker, which say so, and go on")
    func isWaitedFor() async throws {
        try await withScene { scene in
            let worker = try scene.start("worker", "--state-dir", scene.workplace.path("a"))
            #expect(await worker.hasWritten("ready"), "\(worker.text)")
            let run = try scene.start("run", "held.json", "-i", "name=one", "--key", "one")
            #expect(await run.hasWritten("model"), "\(run.text)")
            let watch = try scene.start("watch", "one")
            #expect(await watch.hasWritten("model"), "\(watch.text)")
            await scene.server.stop()
            #expect(await run.hasWritten("note: the database postgres://pipeline@/test1?host=/"), "\(run.text)")
            #expect(await watch.hasWritten("note: the database postgres://pipeline@/test1?host=/"), "\(watch.text)")
            #expect(await worker.hasWritten("waits for the journal: the database "), "\(worker.text)")
            scene.service.open()
            try await scene.server.start()
            for program in [run, watch] {
                let end = await program.end
                #expect(end.cause == .exited(0) && end.errors.contains("note: the database is back"), "\(end)")
            }
            #expect(scene.service.names == ["one"])
            worker.signal(SIGTERM)
            #expect(await worker.end.cause == .exited(0), "\(worker.text)")
        }
    }
}
