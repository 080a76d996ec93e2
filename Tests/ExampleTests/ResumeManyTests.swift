import Foundation
import JSONPath
import PipelineTestKit
import Synchronization
import Testing

/// `pipeline resume` of several jobs.
@Suite("Jobs that go on side by side", .timeLimit(.minutes(2))) struct ResumeManyTests {
    /// A service that is away until it is told otherwise, and then answers once so many ask at the same time.
    private final class Service: Sendable {
        private let state = Mutex((isThere: false, waiting: 0))
        private let all = Gate()
        private let count: Int

        init(count: Int) { self.count = count }

        func comeBack() { state.withLock { $0.isThere = true } }

        func answer(_ request: ReceivedRequest) -> ScriptedAnswer {
            let (isThere, waiting) = state.withLock { state in
                if state.isThere { state.waiting += 1 }
                return (state.isThere, state.waiting)
            }
            guard isThere else { return ScriptedAnswer([.reset]) }
            if waiting >= count { all.open() }
            if request.path.hasSuffix("job-bad") { return ScriptedAnswer([.wait(all), .send(404, [], [])]) }
            return ScriptedAnswer([.wait(all), .send(200, [("Content-Type", "text/plain")], Array("hello".utf8))])
        }
    }

    private struct Place {
        let bench: ExampleBench

        private var environment: [String: String] { BuiltProgram.environment(home: bench.folder) }

        func start(_ arguments: String...) throws -> RunningProgram {
            try BuiltProgram(named: "pipeline").start(arguments, environment: environment, folder: bench.folder)
        }

        func run(_ arguments: String...) async throws -> ProgramEnd {
            try await BuiltProgram(named: "pipeline").run(arguments, environment: environment, folder: bench.folder)
        }

        /// Begins jobs of these keys, each of which is suspended since the service is away.
        func suspend(_ keys: [String], at url: String) async throws {
            try """
            { "pipeline": 1, "name": "get", "retry": { "for": "10ms", "delay": "1ms", "jitter": "none" }, "stages": [
                { "id": "get", "kind": "download", "request": { "GET": "\(url)/${{ job.key }}" },
                  "to": "${{ job.key }}.txt" } ] }
            """.write(toFile: bench.folder + "/get.json", atomically: true, encoding: .utf8)
            for key in keys {
                let end = try await run("run", "get.json", "--key", key)
                #expect(end.cause == .exited(75), "\(end)")
            }
        }

        func causes() async throws -> [JSON] {
            let list = try await run("list", "--json")
            return try JSON.parse(Array(list.output.utf8)).array?.compactMap { $0["cause"] } ?? []
        }
    }

    private func withPlace(
        _ keys: [String], together count: Int, _ body: (Place, Service) async throws -> Void
    ) async throws {
        let place = Place(bench: try ExampleBench())
        defer { place.bench.remove() }
        let service = Service(count: count)
        let server = try LoopbackServer { service.answer($0) }
        defer { server.stop() }
        try await place.suspend(keys, at: server.url)
        try await body(place, service)
    }

    private static let keys = (1...5).map { "job-\($0)" }

    @Test("'resume --all' runs them at the same time, prints each one's file, and says how many succeeded")
    func together() async throws {
        try await withPlace(Self.keys, together: 5) { place, service in
            service.comeBack()
            let end = try await place.run("resume", "--all")
            #expect(end.cause == .exited(0), "\(end)")
            #expect(Set(end.lines) == Set(Self.keys.map { "\(place.bench.folder)/\($0).txt" }), "\(end)")
            for key in Self.keys { #expect(end.errors.contains("\(key): succeeded\n"), "\(end)") }
            #expect(end.errors.hasSuffix("5 jobs: 5 succeeded\n"), "\(end)")
        }
    }

    @Test("one that fails is told by its name with what to do, and the others end; then it is begun anew by 'retry'")
    func failing() async throws {
        try await withPlace(Self.keys + ["job-bad"], together: 6) { place, service in
            service.comeBack()
            let end = try await place.run("resume", "--all")
            #expect(end.cause == .exited(1) && end.lines.count == 5, "\(end)")
            #expect(end.errors.contains("job-bad: failed\n  stage 'get' failed\n  error: "), "\(end)")
            #expect(end.errors.contains("  once mended, go on with: pipeline resume "), "\(end)")
            #expect(end.errors.hasSuffix("6 jobs: 5 succeeded, 1 failed\n"), "\(end)")
            let none = try await place.run("retry", "job-1", "job-bad")
            #expect(none.cause == .exited(1), "\(none)")
            #expect(none.errors.contains("nothing of job") && none.errors.contains("job-bad: failed"), "\(none)")
        }
    }

    @Test("with --jobs 2 two are at work; a signal suspends these, and the others are left as they were")
    func stopped() async throws {
        try await withPlace(Self.keys, together: 100) { place, service in
            service.comeBack()
            let program = try place.start("resume", "--all", "--jobs", "2", "--json")
            #expect(await program.hasWritten("stage.resumed", times: 2))
            program.signal(SIGINT)
            let end = await program.end
            #expect(end.cause == .exited(75), "\(end)")
            #expect(end.errors.hasSuffix("5 jobs: 2 suspended, 3 not begun\n"), "\(end)")
            let causes = try await place.causes()
            #expect(causes.count { $0 == "interrupted" } == 2 && causes.count { $0 == "noNetwork" } == 3, "\(causes)")
        }
    }
}
