import Foundation
import JSONPath
import PipelineTestKit
import Synchronization
import Testing

/// A service that takes no submits for a while, or only so many jobs at a time, under a batch of the built program.
@Suite("A service of a batch")
struct ClosedServiceTests {
    private final class Counts: Sendable {
        struct Values {
            var requests = 0
            var refused = 0
            var open: Set<String> = []
            var most = 0
            var polls: [String: Int] = [:]
            /// The first submit after the time that was named.
            var closesUntil: ContinuousClock.Instant?
            var early = 0
        }
        let values = Mutex(Values())
    }

    private func run(
        _ names: ClosedRange<Int>, limits: String, _ answer: @escaping @Sendable (ReceivedRequest) -> ScriptedAnswer,
        _ check: (Workplace, ProgramEnd) async throws -> Void
    ) async throws {
        try await withWorkplace { workplace in
            let server = try LoopbackServer { answer($0) }
            defer { server.stop() }
            try FileManager.default.createDirectory(
                atPath: workplace.path("in"), withIntermediateDirectories: true)
            for number in names { try workplace.write("in/\(number).wav", "x") }
            try workplace.write(
                "model.json",
                """
                { "pipeline": 1, "name": "model", "inputs": { "file": { "type": "file" } },
                  "services": { "api": { "url": "${{ env.API_URL }}", \(limits)
                      "with": [ { "bearer": "t" } ] } },
                  "stages": [
                    { "id": "model", "kind": "compute", "service": "api", "retry": { "attempts": 1 },
                      "submit": { "POST": "/jobs", "json": { "name": "${{ job.item }}" },
                                  "once": { "key": "Idempotency-Key" }, "capture": { "id": "$.id" } },
                      "poll": { "GET": "/jobs/${{ self.id }}", "every": "20ms", "status": "$.state",
                                "succeeded": ["done"] } } ] }
                """)
            let end = try await workplace.run(
                "run", "model.json", "--each", "file=in/*", "--batch", "june", environment: ["API_URL": server.url])
            try await check(workplace, end)
        }
    }

    @Test("that closes with Retry-After is asked by one item again, and costs no item an attempt")
    func closes() async throws {
        let counts = Counts()
        try await run(1...30, limits: "") { request in
            if request.method == "GET" { return .json(#"{"state": "done"}"#) }
            return counts.values.withLock { counts in
                counts.requests += 1
                if let until = counts.closesUntil {
                    if ContinuousClock.now < until { counts.early += 1 }
                } else {
                    counts.closesUntil = ContinuousClock.now + .seconds(2)
                }
                // Those that were under way together, and the first trial.
                if counts.refused < 1 || counts.closesUntil.map({ ContinuousClock.now < $0 }) == true {
                    counts.refused += 1
                    return .status(429, headers: [("Retry-After", "2")], body: "no credit")
                }
                return .json(#"{"id": "\#(request.header("Idempotency-Key") ?? "")"}"#)
            }
        } _: { workplace, end in
            #expect(end.cause == .exited(0), "\(end)")
            let values = counts.values.withLock { $0 }
            #expect(values.refused <= 30 && values.requests == 30 + values.refused)
            let rows = try await workplace.run("results", "june")
            #expect(rows.lines.count == 30)
            let listed = try await workplace.run("list", "--items", "june", "--json")
            #expect(listed.cause == .exited(0))
            for number in 1...30 {
                let stage = try await workplace.show("june/\(number).wav")["stages"]?.array?.first
                #expect(stage?["attempts"] == 1, "\(number): \(stage?.text ?? "")")
            }
            #expect(try await workplace.show("june")["closed"] == [])
        }
    }

    @Test("never has more remote jobs than 'computations' says")
    func places() async throws {
        let counts = Counts()
        try await run(1...12, limits: #""limits": { "computations": 3 },"#) { request in
            counts.values.withLock { counts in
                if request.method == "POST" {
                    let key = request.header("Idempotency-Key") ?? ""
                    counts.open.insert(key)
                    counts.most = max(counts.most, counts.open.count)
                    return .json(#"{"id": "\#(key)"}"#)
                }
                let key = String(request.path.dropFirst("/jobs/".count))
                counts.polls[key, default: 0] += 1
                let isDone = counts.polls[key, default: 0] >= 3
                if isDone { counts.open.remove(key) }
                return .json(#"{"state": "\#(isDone ? "done" : "running")"}"#)
            }
        } _: { workplace, end in
            #expect(end.cause == .exited(0), "\(end)")
            #expect(counts.values.withLock { $0.most } == 3)
        }
    }

    /// `why` of the batch said nothing but that it runs.
    @Test("that has as many remote jobs as 'computations' says is what 'why' says of the batch")
    func full() async throws {
        try await withWorkplace { workplace in
            let service = try HeldService()
            defer { service.server.stop() }
            let url = #""url": "${{ env.API_URL }}""#
            try workplace.write(
                "held.json",
                HeldService.document.replacing(url, with: url + #", "limits": { "computations": 1 }"#))
            try workplace.write("rows.csv", HeldService.rows(3).text)
            let program = try workplace.start(
                "run", "held.json", "--each", "rows.csv", "--batch", "june",
                environment: ["API_URL": service.server.url])
            let line = "2 wait: service 'api' has 1 job that has not ended, as many as it may have  e.g. pipeline why "
            while true {
                let why = try await workplace.run("why", "june")
                // Before it has begun there is no such batch.
                try #require([.exited(0), .exited(64)].contains(why.cause), "\(why)")
                if why.output.contains(line + "june/talk-") { break }
            }
            let json = try JSON.parse(try await workplace.run("why", "june", "--json").output)
            OutputSchemaTests.check(json, try OutputSchemaTests.schema("batch-why"))
            #expect(json["waits"]?.array?.first?["reason"] == "computations", "\(json.text)")
            program.signal(SIGKILL)
            _ = await program.end
        }
    }

    /// Every batch said all services that were closed, whoever asked them, also one that had ended.
    @Test("that is closed is told of by a batch that asks it, until that has ended, and by no other")
    func told() async throws {
        try await withWorkplace { workplace in
            let service = try HeldService()
            let busy = try LoopbackServer { _ in .status(429, headers: [("Retry-After", "600")], body: "later") }
            defer {
                service.server.stop()
                busy.stop()
            }
            // Both call their service 'api', and have its key from where secrets are found.
            let url = #""url": "${{ env.API_URL }}""#
            try workplace.write(
                "held.json",
                HeldService.document.replacing(
                    url, with: url + #", "with": [ { "bearer": "${{ secrets.KEY }}" } ]"#))
            try workplace.write("rows.csv", HeldService.rows(2).text)
            let key = ["PIPELINE_SECRET_KEY": "sesame-sesame"]
            var programs: [RunningProgram] = []
            for (batch, url) in [("free", service.server.url), ("shut", busy.url)] {
                programs.append(
                    try workplace.start(
                        "run", "held.json", "--each", "rows.csv", "--batch", batch,
                        environment: key.merging(["API_URL": url]) { $1 }))
            }
            let said = "service 'api' takes no requests until"
            // Without the secret it is found by what its items wait for.
            while true {
                let why = try await workplace.run("why", "shut")
                if why.output.contains(said) { break }
                try #require(programs.last?.text.contains("error: ") == false, "\(why)")
            }
            for command in ["why", "show"] {
                let own = try await workplace.run(command, "shut", environment: key)
                #expect(own.output.contains(said), "\(own)")
                let other = try await workplace.run(command, "free", environment: key)
                #expect(other.cause == .exited(0) && !other.output.contains("takes no requests"), "\(other)")
            }
            let list = try JSON.parse(try await workplace.run("list", "--json", environment: key).output)
            let counts = (list.array ?? []).map { "\($0["batch"]?.string ?? "") \($0["closed"]?.array?.count ?? -1)" }
            #expect(counts.sorted() == ["free 0", "shut 1"], "\(list.text)")
            service.open()
            #expect(await programs[0].end.cause == .exited(0))
            #expect(try await workplace.show("free")["closed"] == [])
            _ = try await workplace.run("cancel", "shut", environment: key)
            _ = await programs[1].end
            #expect(try await workplace.show("shut")["closed"] == [])
        }
    }

    // The batch said nothing of it, for as long as it was away.
    @Test("that can't be reached is told of once, with what to do and for how long it is waited for")
    func unreachable() async throws {
        try await withWorkplace { workplace in
            let port = try LoopbackServer.unusedPort()
            try workplace.write("held.json", HeldService.document)
            try workplace.write("rows.csv", HeldService.rows(6).text)
            let program = try workplace.start(
                "run", "held.json", "--each", "rows.csv", "--batch", "june", "--at-once", "4",
                environment: ["API_URL": "http://127.0.0.1:\(port)"])
            let said = "june: 4 of 4 at work try again: model: service 'api' gave no answer: "
            #expect(await program.hasWritten(said), "\(program.text)")
            #expect(
                await program.hasWritten("note: waits for up to 24h; Ctrl-C suspends"),
                "\(program.text)")
            program.signal(SIGINT)
            let end = await program.end
            #expect(end.cause == .exited(75), "\(end)")
            #expect(end.errors.contains("127.0.0.1:\(port) refused the connection\n  hint: "), "\(end)")
            #expect(end.errors.components(separatedBy: "at work try again").count == 2, "\(end)")
        }
    }

    /// While the first request of a new process read the journal, those beside it went out.
    @Test("that is closed gets nothing from a new process, however many items that begins at once")
    func stillClosed() async throws {
        let server = try LoopbackServer { _ in
            .status(429, headers: [("Retry-After", "60")], body: "no credit")
        }
        defer { server.stop() }
        try await withWorkplace { workplace in
            try workplace.write(
                "order.json",
                """
                { "pipeline": 1, "name": "order", "inputs": { "name": { "type": "string" } },
                  "services": { "api": { "url": "\(server.url)" } },
                  "stages": [ { "id": "order", "kind": "request", "service": "api",
                                "request": { "POST": "/orders", "json": { "name": "${{ inputs.name }}" } } } ] }
                """)
            /// Runs a batch until all of its items wait, and ends it by a signal.
            func run(_ batch: String, until signal: Int32) async throws {
                let rows = (1...20).map { "{\"name\": \"\(batch) \($0)\"}" }.joined(separator: "\n")
                try workplace.write("\(batch).jsonl", rows)
                let program = try workplace.program.start(
                    ["run", "order.json", "--each", "\(batch).jsonl", "--batch", batch, "--at-once", "20"],
                    environment: workplace.environment(), folder: workplace.folder)
                #expect(await program.hasWritten("batch \(batch)"), "\(program.text)")
                _ = try await workplace.waitFor(of: batch) { $0["counts"]?["waiting"] == 20 }
                program.signal(signal)
                _ = await program.end
            }
            try await run("june", until: SIGKILL)
            for batch in ["july", "august"] { try await run(batch, until: SIGINT) }
            let names = server.requests.map { String(decoding: $0.body, as: UTF8.self) }
            #expect(!names.isEmpty && names.allSatisfy { $0.contains("june") }, "\(names)")
        }
    }
}
