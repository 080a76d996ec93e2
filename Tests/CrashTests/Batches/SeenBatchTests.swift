import Foundation
import JSONPath
import PipelineTestKit
import Testing

/// What `why`, `watch` and `stats` say of a batch and its items.
@Suite("A batch is asked about", .timeLimit(.minutes(2)))
struct SeenBatchTests {
    private func withBatch(
        _ body: (Workplace, HeldService, RunningProgram) async throws -> Void
    ) async throws {
        try await withWorkplace { workplace in
            let service = try HeldService()
            defer { service.server.stop() }
            try workplace.write("held.json", HeldService.document)
            try workplace.write("rows.csv", HeldService.rows(6).text)
            let program = try workplace.program.start(
                ["run", "held.json", "--each", "rows.csv", "--batch", "june", "--at-once", "4"],
                environment: workplace.environment(["API_URL": service.server.url]), folder: workplace.folder)
            _ = await service.server.requests(atLeast: 8)
            try await body(workplace, service, program)
            program.signal(SIGKILL)
            _ = await program.end
        }
    }

    /// What ended in the last moment before the process was not counted: one of six.
    @Test("counts the polls that services were sent, those of jobs that end together at the end of the process too")
    func polls() async throws {
        try await withWorkplace { workplace in
            let begun = ContinuousClock.now
            let server = try LoopbackServer { request in
                func entry(_ id: String) -> String {
                    let isDone = ContinuousClock.now - begun > .seconds(2)
                    return #"{"id": "\#(id)", "state": "\#(isDone ? "done" : "running")"}"#
                }
                if request.method == "POST" { return .json(#"{"id": "\#(request.header("Idempotency-Key") ?? "")"}"#) }
                if request.path != "/jobs" { return .json(entry(request.path.replacing("/jobs/", with: ""))) }
                let ids =
                    request.target.split(separator: "=").last?.removingPercentEncoding?.split(separator: ",") ?? []
                return .json(#"{"data": [\#(ids.map { entry(String($0)) }.joined(separator: ","))]}"#)
            }
            defer { server.stop() }
            try workplace.write("rows.csv", "n\n" + (1...6).map { "\($0)\n" }.joined())
            try workplace.write(
                "model.json",
                """
                { "pipeline": 1, "name": "model", "inputs": { "n": { "type": "string" } },
                  "services": { "api": { "url": "${{ env.API_URL }}" } },
                  "stages": [ { "id": "model", "kind": "compute", "service": "api",
                    "submit": { "POST": "/jobs", "json": "${{ inputs.n }}", "capture": { "id": "$.id" },
                                "once": { "key": "Idempotency-Key" } },
                    "poll": { "GET": "/jobs/${{ self.id }}", "status": "$.state", "succeeded": ["done"],
                              "running": ["running"], "every": "500ms",
                              "list": { "GET": "/jobs", "query": { "ids": "${{ join(ids, ',') }}" },
                                        "items": "$.data[*]", "id": "$.id" } } } ] }
                """)
            let end = try await workplace.run(
                "run", "model.json", "--each", "rows.csv", "--batch", "june", environment: ["API_URL": server.url])
            #expect(end.cause == .exited(0), "\(end)")
            let polls = server.requests.filter { $0.method == "GET" }
            let lists = polls.count { $0.path == "/jobs" }
            let said = try await workplace.run("stats").output
            let line = "service 'api': \(polls.count - lists) polls of one job each, \(lists) lists for many jobs"
            #expect(lists > 0 && said.contains(line), "\(line); \(said)")
        }
    }

    @Test("why says how many wait and for what, of an item what it waits for, and what to do when it is stopped")
    func why() async throws {
        try await withBatch { workplace, service, program in
            let text = try await workplace.run("why", "june")
            #expect(text.cause == .exited(0) && text.output.contains("batch june is running"), "\(text)")
            #expect(
                text.output.contains("2 items wait for their turn: 4 are at work, of at most 4"), "\(text)")
            let json = try JSON.parse(Array(try await workplace.run("why", "june", "--json").output.utf8))
            #expect(
                json.object?.names.sorted() == [
                    "advice", "batch", "cause", "closed", "counts", "job", "state", "waits",
                ],
                "\(json.text)")
            #expect(json["batch"] == "june" && json["state"] == "running" && json["cause"] == .null)
            #expect(json.itemsUnderWay == 4 && json["counts"]?["pending"] == 2, "\(json.text)")
            // Its first poll was answered; that it waits for the next is kept a moment later.
            while true {
                let item = try await workplace.run("why", "june/talk-1")
                try #require(item.cause == .exited(0), "\(item)")
                if item.output.contains("model") { break }
            }
            let pending = try await workplace.run("why", "june/talk-6")
            #expect(
                pending.output.contains("item talk-6 of batch june: it waits for its turn: 4 are at work"), "\(pending)"
            )
            // 'list --items --json' gives this key, and no command knew it.
            let numbered = try await workplace.run("why", "june.6")
            #expect(numbered.output.contains("item talk-6 of batch june: it waits"), "\(numbered)")
            #expect(try await workplace.show("june.6")["item"] == "talk-6")
            let removed = try await workplace.run("rm", "june.6")
            #expect(removed.errors.contains("the item 'talk-6' has no job: it is pending"), "\(removed)")
            #expect(try await workplace.run("show", "june.7").errors.contains("there is no job 'june.7'"))
            OutputSchemaTests.check(
                try JSON.parse(try await workplace.run("why", "june/talk-6", "--json").output),
                try OutputSchemaTests.schema("why"))
            program.signal(SIGINT)
            _ = await program.end
            let stopped = try JSON.parse(Array(try await workplace.run("why", "june", "--json").output.utf8))
            #expect(stopped["cause"] == "interrupted" && stopped["advice"] == "pipeline resume june", "\(stopped.text)")
            service.open()
            let resumed = try await workplace.program.run(
                ["resume", "june"], environment: workplace.environment(["API_URL": service.server.url]),
                folder: workplace.folder)
            #expect(resumed.cause == .exited(0), "\(resumed)")
            let said = try await workplace.run("stats")
            #expect(
                said.output.contains(/service 'api': \d+ polls of one job each, 0 lists for many jobs/), "\(said)")
            let stats = try JSON.parse(Array(try await workplace.run("stats", "--json").output.utf8))
            #expect(stats.array?.first?["pipeline"] == "held", "\(stats.text)")
            // Those of another pipeline's service of that name are among them.
            #expect(said.output.contains("by all pipelines with a service of that name"), "\(said)")
            #expect(stats.array?.first?["services"]?.array?.first?["pipelines"] == "all", "\(stats.text)")
            OutputSchemaTests.check(stats, try OutputSchemaTests.schema("stats"))
            // An item whose poll was under way when it was stopped took another attempt, and says nothing of how long it takes.
            let measured = stats.array?.first?["stages"]?.array?.first?["count"]?.number?.int ?? 0
            #expect((2...6).contains(measured), "\(stats.text)")
        }
    }

    @Test("show, list and why count what nobody runs as suspended, as list --items does")
    func crashed() async throws {
        try await withBatch { workplace, service, program in
            program.signal(SIGKILL)
            _ = await program.end
            let shown = try await workplace.show("june")
            let listed = try JSON.parse(try await workplace.run("list", "--json").output).array?.first
            let why = try JSON.parse(try await workplace.run("why", "june", "--json").output)
            for counts in [shown["counts"], listed?["counts"], why["counts"]] {
                #expect(counts?["running"] == 0 && counts?["suspended"] == 4, "\(counts?.text ?? "")")
            }
            let items = try await workplace.run("list", "--items", "june", "--state", "suspended")
            #expect(items.lines.count == 4, "\(items)")
        }
    }

    @Test("show, list and why print what their schemas say")
    func schemas() async throws {
        let (shown, why) = (try OutputSchemaTests.schema("batch"), try OutputSchemaTests.schema("batch-why"))
        try await withBatch { workplace, service, program in
            OutputSchemaTests.check(try await workplace.show("june"), shown)
            OutputSchemaTests.check(try JSON.parse(try await workplace.run("why", "june", "--json").output), why)
            let job = try OutputSchemaTests.schema("show")
            let items = try JSON.parse(try await workplace.run("list", "--items", "june", "--json").output)
            for item in items.array ?? [] { OutputSchemaTests.check(item, job) }
            OutputSchemaTests.check(try await workplace.show("june/talk-6"), job)
            let events = try workplace.start("watch", "june", "--json")
            program.signal(SIGINT)
            _ = await program.end
            let event = try OutputSchemaTests.schema("event")
            for line in await events.end.lines { OutputSchemaTests.check(try JSON.parse(line), event) }
            let list = try JSON.parse(try await workplace.run("list", "--json").output)
            OutputSchemaTests.check(try #require(list.array?.first), shown)
            #expect(list.array?.first?["key"] == "june", "as a job has it: \(list.text)")
            OutputSchemaTests.check(try JSON.parse(try await workplace.run("why", "june", "--json").output), why)
            OutputSchemaTests.check(
                try JSON.parse(try await workplace.run("why", "june/talk-1", "--json").output),
                try OutputSchemaTests.schema("why"))
        }
    }

    @Test("watch shows how far it is while another process runs it, and ends with its status")
    func watch() async throws {
        try await withBatch { workplace, service, program in
            let plain = try workplace.start("watch", "june")
            let json = try workplace.start("watch", "june", "--json")
            #expect(await plain.hasWritten("june: 0/6 succeeded, 4 running, 2 pending"), "\(plain.text)")
            #expect(await json.hasWritten("batch.progress"), "\(json.text)")
            service.open()
            #expect(await program.end.cause == .exited(0))
            let end = await plain.end
            #expect(end.cause == .exited(0) && end.errors.contains("june: 6/6 succeeded"), "\(end)")
            let events = await json.end
            #expect(events.lines.last?.contains(#""type":"batch.ended""#) == true, "\(events)")
        }
    }
}
