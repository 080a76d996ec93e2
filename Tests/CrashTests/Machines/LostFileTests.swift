import Foundation
import PipelineTestKit
import Synchronization
import Testing

/// A worker whose machine is gone with all that stood on its disk.
@Suite(
    "Files of a dead worker", .timeLimit(.minutes(3)),
    .enabled(if: PostgresServer.isAvailable, Comment(rawValue: PostgresServer.howTo)))
struct LostFileTests {
    private static let content = String(repeating: "0123456789abcdef", count: 4096)

    private final class Service: Sendable {
        private struct State {
            var fetched = 0
            var submitted = 0
            var sent: [String] = []
            var isOpen = false
        }

        private final class Box: Sendable {
            let state = Mutex(State())
        }

        private let box: Box
        let server: LoopbackServer

        init() throws {
            let box = Box()
            self.box = box
            server = try LoopbackServer { request in
                box.state.withLock { state in
                    switch (request.method, request.path) {
                    case ("GET", "/file"):
                        state.fetched += 1
                        return .status(200, headers: [], body: LostFileTests.content)
                    case ("PUT", _):
                        state.sent.append(String(decoding: request.body, as: UTF8.self))
                        return .json("{}")
                    case ("POST", _):
                        state.submitted += 1
                        return .json(#"{"id": "1"}"#)
                    default: return .json(state.isOpen ? #"{"state": "done"}"# : #"{"state": "running"}"#)
                    }
                }
            }
        }

        var fetched: Int { box.state.withLock { $0.fetched } }
        var submitted: Int { box.state.withLock { $0.submitted } }
        var sent: [String] { box.state.withLock { $0.sent } }
        func open() { box.state.withLock { $0.isOpen = true } }
    }

    private static let document = """
        { "pipeline": 1, "name": "relay", "services": { "api": { "url": "${{ env.API_URL }}" } },
          "stages": [
            { "id": "fetch", "kind": "download", "service": "api", "request": { "GET": "/file" }, "to": "a.bin" },
            { "id": "model", "kind": "compute", "service": "api",
              "submit": { "POST": "/jobs", "json": {}, "once": { "key": "Idempotency-Key" }, "capture": { "id": "$.id" } },
              "poll": { "GET": "/jobs/${{ self.id }}", "every": "300ms", "status": "$.state", "succeeded": ["done"] } },
            { "id": "send", "kind": "upload", "service": "api", "needs": ["model"], "file": "${{ stages.fetch.path }}",
              "protocol": "put", "request": { "PUT": "/up" } } ] }
        """

    @Test("are made again where a later stage reads them, which an event says; what was submitted is not")
    func areMadeAgain() async throws {
        let server = try await PostgresServer.shared()
        let database = try await server.makeDatabase()
        try await withWorkplace { workplace in
            let service = try Service()
            defer { service.server.stop() }
            try workplace.write("relay.json", Self.document)
            let variables = ["API_URL": service.server.url, "PIPELINE_JOURNAL": server.address(of: database)]
            let migrated = try await workplace.run("journal", "migrate", environment: variables)
            #expect(migrated.cause == .exited(0), "\(migrated)")
            func start(_ name: String) async throws -> RunningProgram {
                let worker = try workplace.program.start(
                    ["worker", "--state-dir", workplace.path(name)], environment: workplace.environment(variables),
                    folder: workplace.folder, limit: .seconds(120))
                #expect(await worker.hasWritten("ready"), "\(worker.text)")
                return worker
            }
            func wait(for sql: String, toBe count: String) async throws {
                for _ in 0..<2000 where try await server.query(sql, in: database) == count { return }
                Issue.record("\(sql) is not \(count)")
            }
            let first = try await start("a")
            let run = try await workplace.run(
                "run", "relay.json", "--output", workplace.path("out"), "--key", "one", "--detach",
                environment: variables)
            #expect(run.cause == .exited(0), "\(run)")
            try await wait(for: "SELECT count(*) FROM pipeline.steps WHERE state = 'waiting'", toBe: "1")
            first.signal(SIGKILL)
            _ = await first.end
            try FileManager.default.removeItem(atPath: workplace.path("out/a.bin"))
            try await server.query(
                "UPDATE pipeline.workers SET lease_until = now() WHERE id LIKE '%-\(first.processID)-%'", in: database)
            service.open()
            let second = try await start("b")
            try await wait(for: "SELECT count(*) FROM pipeline.jobs WHERE ended IS NULL", toBe: "0")
            #expect(service.fetched == 2 && service.submitted == 1)
            #expect(service.sent == [Self.content])
            let logs = try await workplace.run("logs", "one", environment: variables)
            #expect(logs.output.contains("out/a.bin is not on this machine: stage 'fetch' makes it again"), "\(logs)")
            let shown = try await workplace.run("show", "one", environment: variables)
            #expect(shown.output.contains("succeeded"), "\(shown)")
            second.signal(SIGTERM)
            _ = await second.end
        }
    }
}
