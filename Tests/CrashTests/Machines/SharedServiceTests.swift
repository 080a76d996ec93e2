import Foundation
import JSONPath
import PipelineTestKit
import Synchronization
import Testing

/// What workers share of a service's limits, with a service that counts.
@Suite(
    "Services that workers share", .timeLimit(.minutes(4)),
    .enabled(if: PostgresServer.isAvailable, Comment(rawValue: PostgresServer.howTo)))
struct SharedServiceTests {
    /// A request as the service saw it.
    private struct Seen {
        let target: String
        let time: ContinuousClock.Instant
    }

    private final class Counter: Sendable {
        private let seen = Mutex<[Seen]>([])
        private let isOpen = Mutex(false)
        func add(_ target: String) { seen.withLock { $0.append(Seen(target: target, time: .now)) } }
        var all: [Seen] { seen.withLock { $0 } }
        func open() { isOpen.withLock { $0 = true } }
        var state: String { isOpen.withLock { $0 } ? "done" : "running" }

        /// The ids that each list request has asked for.
        var lists: [[String]] { all.map { Self.ids(in: $0.target) }.filter { !$0.isEmpty } }

        static func ids(in target: String) -> [String] {
            let ids = target.firstMatch(of: #/ids=([^&]*)/#)?.output.1 ?? ""
            return ids.replacing("%2C", with: ",").split(separator: ",").map(String.init)
        }
    }

    /// Two workers on a database of their own, while the body runs.
    private func withWorkers(
        atOnce: Int, _ environment: [String: String],
        _ body: (Workplace, [String: String], PostgresServer, String) async throws -> Void
    ) async throws {
        let server = try await PostgresServer.shared()
        let database = try await server.makeDatabase()
        try await withWorkplace { workplace in
            let variables = environment.merging(["PIPELINE_JOURNAL": server.address(of: database)]) { $1 }
            let end = try await workplace.run("journal", "migrate", environment: variables)
            #expect(end.cause == .exited(0), "\(end)")
            var workers: [RunningProgram] = []
            for name in ["a", "b"] {
                let worker = try workplace.program.start(
                    ["worker", "--at-once", "\(atOnce)", "--state-dir", workplace.path(name)],
                    environment: workplace.environment(variables), folder: workplace.folder, limit: .seconds(240))
                #expect(await worker.hasWritten("ready"), "\(worker.text)")
                workers.append(worker)
            }
            do { try await body(workplace, variables, server, database) } catch {
                for worker in workers { worker.signal(SIGKILL) }
                throw error
            }
            for worker in workers {
                worker.signal(SIGTERM)
                _ = await worker.end
            }
        }
    }

    /// Waits until a question to the database has that answer; each takes some time by itself.
    private func wait(for sql: String, toBe count: Int, _ server: PostgresServer, _ database: String) async throws {
        for _ in 0..<3000 where try await server.query(sql, in: database) == "\(count)" { return }
        Issue.record("\(sql) is \(try await server.query(sql, in: database)), not \(count)")
    }

    private let unfinished = "SELECT count(*) FROM pipeline.jobs WHERE ended IS NULL"

    @Test("requestsPerSecond holds for both together, and both send")
    func rate() async throws {
        let counter = Counter()
        let service = try LoopbackServer { request in
            counter.add(request.path)
            return .json("{}")
        }
        defer { service.stop() }
        let (items, rate) = (100, 20.0)
        let numbers = (1...items).map { "\"\($0)\"" }.joined(separator: ", ")
        try await withWorkers(atOnce: 1, ["API_URL": service.url]) { workplace, variables, server, database in
            let file = try workplace.write(
                "burst.json",
                """
                { "pipeline": 1, "name": "burst",
                  "inputs": { "name": { "type": "string" }, "numbers": { "type": "json", "default": [\(numbers)] } },
                  "services": { "api": { "url": "${{ env.API_URL }}", "limits": { "requestsPerSecond": \(Int(rate)) } } },
                  "stages": [ { "id": "ping", "kind": "request", "service": "api", "forEach": "inputs.numbers",
                    "request": { "GET": "/${{ inputs.name }}/${{ item }}" } } ] }
                """)
            for name in ["one", "two"] {
                let end = try await workplace.run(
                    "run", file, "-i", "name=\(name)", "--key", name, "--detach", environment: variables)
                #expect(end.cause == .exited(0), "\(end)")
            }
            try await wait(for: unfinished, toBe: 0, server, database)
        }
        let seen = counter.all
        #expect(seen.count == 2 * items && Set(seen.map(\.target)).count == 2 * items)
        let (first, last) = (try #require(seen.map(\.time).min()), try #require(seen.map(\.time).max()))
        // Each worker may begin one request at once; a tenth is for those that come late on a busy machine.
        let least = Duration.seconds(Double(seen.count - 3) / rate * 0.9)
        #expect(last - first >= least, "\(last - first)")
        let names = seen.map { $0.target.prefix(4) }
        let (start, end) = (try #require(names.firstIndex(of: "/two")), try #require(names.lastIndex(of: "/one")))
        #expect(start < end, "both sent side by side")
    }

    @Test("one list request asks for the jobs of both")
    func lists() async throws {
        let counter = Counter()
        let service = try LoopbackServer { request in
            if request.method == "POST" {
                let name = (try? JSON.parse(request.body))?["name"]?.string ?? ""
                return .json(#"{"id": "\#(name)"}"#)
            }
            counter.add(request.target)
            guard request.target.contains("ids=") else { return .json(#"{"state": "\#(counter.state)"}"#) }
            let entries = Counter.ids(in: request.target).map { #"{"id": "\#($0)", "state": "\#(counter.state)"}"# }
            return .json(#"{"data": [\#(entries.joined(separator: ", "))]}"#)
        }
        defer { service.stop() }
        try await withWorkers(atOnce: 1, ["API_URL": service.url]) { workplace, variables, server, database in
            let file = try workplace.write(
                "listed.json",
                """
                { "pipeline": 1, "name": "listed", "inputs": { "name": { "type": "string" } },
                  "services": { "api": { "url": "${{ env.API_URL }}" } },
                  "stages": [ { "id": "model", "kind": "compute", "service": "api",
                    "submit": { "POST": "/jobs", "json": { "name": "${{ inputs.name }}" },
                                "once": { "key": "Idempotency-Key" }, "capture": { "id": "$.id" } },
                    "poll": { "GET": "/jobs/${{ self.id }}", "every": "1s", "status": "$.state", "succeeded": ["done"],
                              "list": { "GET": "/jobs", "query": { "ids": "${{ join(ids, ',') }}" },
                                        "items": "$.data[*]", "id": "$.id" } } } ] }
                """)
            for number in 1...2 {
                let end = try await workplace.run(
                    "run", file, "-i", "name=j\(number)", "--key", "j\(number)", "--detach", environment: variables)
                #expect(end.cause == .exited(0), "\(end)")
            }
            try await wait(for: "SELECT count(DISTINCT worker) FROM pipeline.list_polls", toBe: 2, server, database)
            // Each worker has one job: one due alone is asked for alone. They poll once a second, at times of their own,
            // and are let ask sooner here than their plans would have it.
            for _ in 0..<1000 where counter.lists.isEmpty {
                try await server.query("UPDATE pipeline.list_polls SET earliest = clock_timestamp()", in: database)
            }
            #expect(counter.lists.first.map { Set($0) } == ["j1", "j2"], "\(counter.lists)")
            counter.open()
            try await wait(for: unfinished, toBe: 0, server, database)
        }
    }
}
