import JSONPath
import PipelineTestKit
import Synchronization
import Testing

/// What keeps jobs from being ordered that nobody wants to pay for.
@Suite("What stops before more is ordered")
struct BrakeTests {
    /// Runs the body with a service that takes orders, and answers them and polls as it is told.
    private func withService(
        order: String = #"{"id": "j"}"#, poll: String = #"{"state": "done"}"#,
        _ body: (Workplace, LoopbackServer, [String: String]) async throws -> Void
    ) async throws {
        try await withWorkplace { workplace in
            let server = try LoopbackServer { request in .json(request.path == "/jobs" ? order : poll) }
            defer { server.stop() }
            try workplace.write("rows.csv", "file\n" + (1...30).map { "talk-\($0)\n" }.joined())
            try await body(workplace, server, ["API_URL": server.url])
        }
    }

    private func document(_ stage: String, batch: String = "", service: String = "") -> String {
        """
        { "pipeline": 1, "name": "model", "inputs": { "file": { "type": "string", "default": "" } },
          "batch": { "key": "${{ inputs.file }}" \(batch) },
          "services": { "api": { "url": "${{ env.API_URL }}" \(service) } },
          "stages": [
            { "id": "model", "kind": "compute", "service": "api", \(stage)
              "submit": { "POST": "/jobs", "json": {}, "capture": { "id": "$.id" } },
              "poll": { "GET": "/jobs/${{ self.id }}", "every": "50ms", "status": "$.state", "succeeded": ["done"],
                        "failed": ["broken"] } } ] }
        """
    }

    private func orders(_ server: LoopbackServer) -> Int { server.requests.count { $0.path == "/jobs" } }

    @Test("items of a stage with 'stopOnFailure' after one of which it is not known whether it was taken")
    func unknownItem() async throws {
        try await withService(order: #"{"job": "j"}"#) { workplace, server, environment in
            let stage = #""forEach": "split('a,b,c,d', ',')", "concurrency": 1, "stopOnFailure": true,"#
            try workplace.write("model.json", document(stage))
            let end = try await workplace.run("run", "model.json", environment: environment)
            #expect(end.cause == .exited(3), "\(end)")
            #expect(orders(server) == 1)
        }
    }

    /// Twelve others were ordered with the one that was to be tried.
    @Test("other items, where one is tried again by its number")
    func oneItem() async throws {
        try await withService(poll: #"{"state": "broken"}"#) { workplace, server, environment in
            let stage = #""forEach": "split('a,b,c,d', ',')", "concurrency": 1, "stopOnFailure": true,"#
            try workplace.write("model.json", document(stage))
            #expect(try await workplace.run("run", "model.json", environment: environment).cause == .exited(1))
            #expect(orders(server) == 1)
            let end = try await workplace.run("retry", "last", "--item", "0", environment: environment)
            #expect(end.cause == .exited(1), "\(end)")
            #expect(orders(server) == 2)
            let all = try await workplace.run("retry", "last", environment: environment)
            #expect(all.cause == .exited(1), "\(all)")
            #expect(orders(server) == 3)
        }
    }

    /// It asked for nothing, and left the item, and its stage, pending.
    @Test("an item that is tried again by its number, where another stage has failed: it is refused")
    func itemBesideFailure() async throws {
        try await withWorkplace { workplace in
            let isBroken = Mutex(true)
            let server = try LoopbackServer { request in
                .status(
                    request.path == "/bad" || request.path == "/other" && isBroken.withLock { $0 } ? 500 : 200,
                    body: "{}")
            }
            defer { server.stop() }
            try workplace.write(
                "mix.json",
                """
                { "pipeline": 1, "name": "mix", "retry": { "attempts": 1 },
                  "services": { "api": { "url": "${{ env.API_URL }}" } },
                  "stages": [
                    { "id": "a", "kind": "request", "service": "api", "forEach": "split('good,bad', ',')",
                      "tolerate": 1, "request": { "GET": "/${{ item }}" } },
                    { "id": "c", "kind": "request", "service": "api", "needs": [], "request": { "GET": "/other" } } ] }
                """)
            let environment = ["API_URL": server.url]
            #expect(try await workplace.run("run", "mix.json", environment: environment).cause == .exited(1))
            let before = server.requests.count
            let end = try await workplace.run("retry", "last", "--item", "1", environment: environment)
            #expect(end.cause == .exited(64) && end.errors.contains("can't begin alone: c has failed"), "\(end)")
            #expect(server.requests.count == before)
            #expect(end.errors.contains(/first begin that again: pipeline retry \w+\n/), "\(end)")
            isBroken.withLock { $0 = false }
            #expect(try await workplace.run("retry", "last", environment: environment).cause == .exited(0))
            _ = try await workplace.run("retry", "last", "--item", "1", environment: environment)
            #expect(server.requests.map(\.path).dropFirst(before) == ["/other", "/bad"])
        }
    }

    /// Each run of the same command paid for ten more.
    @Test("a batch whose last items were unknown, until a person reconciles them, all at once; then it goes on")
    func sameCommand() async throws {
        try await withService(order: #"{"job": "j"}"#) { workplace, server, environment in
            try workplace.write("model.json", document("", batch: #", "stopAfter": 3, "atOnce": 1"#))
            func run() async throws -> ProgramEnd {
                try await workplace.run(
                    "run", "model.json", "--each", "rows.csv", "--batch", "june", environment: environment)
            }
            let end = try await run()
            #expect(end.cause == .exited(75), "\(end)")
            #expect(
                end.errors.contains("'pipeline resolve june' with --resubmit or --abandon ends what is unknown"),
                "\(end)")
            let again = try await run()
            #expect(again.cause == .exited(75), "\(again)")
            #expect(orders(server) == 3)
            let seen = try await workplace.run("show", "june").output
            #expect(
                seen.contains("what became of the unknown ones, then: pipeline resolve june --resubmit or --abandon"),
                "\(seen)")
            #expect(try await workplace.run("list").output.contains("?3"))
            let refused = try await workplace.run("resolve", "june", "--id", "j", environment: environment)
            #expect(refused.cause == .exited(64), "\(refused)")
            let resolved = try await workplace.run("resolve", "june", "--abandon", environment: environment)
            #expect(resolved.errors.contains("settled: 3; go on with: pipeline resume june"), "\(resolved)")
            #expect(try await workplace.show("june")["counts"]?["unknown"] == 0)
            let empty = try await workplace.run("resolve", "june", "--abandon", environment: environment)
            #expect(empty.cause == .exited(64), "\(empty)")
            _ = try await workplace.run("resume", "june", environment: environment)
            #expect(orders(server) > 3)
        }
    }

    /// Sixty more were ordered, four at a time, after the tenth had failed.
    @Test("items of a batch that wait for one of a service's places")
    func places() async throws {
        try await withService(poll: #"{"state": "broken"}"#) { workplace, server, environment in
            try workplace.write(
                "model.json",
                document("", batch: #", "stopAfter": 3, "atOnce": 10"#, service: #", "limits": { "computations": 1 }"#))
            let end = try await workplace.run(
                "run", "model.json", "--each", "rows.csv", "--batch", "june", environment: environment)
            #expect(end.cause == .exited(75), "\(end)")
            #expect(orders(server) == 3)
            let shown = try await workplace.show("june")
            #expect(shown["cause"] == "sameFailure", "\(shown.text)")
            #expect(shown["counts"]?["suspended"]?.number?.int ?? 0 > 4, "\(shown.text)")
            let more = try await workplace.run("resume", "june", environment: environment)
            #expect(more.cause == .exited(75), "\(more)")
            #expect(orders(server) == 6)
        }
    }

    /// All thirty were ordered, for none was pending any more.
    @Test("the items of a batch that had all begun, and wait for one of a service's places")
    func lastPlaces() async throws {
        try await withService(poll: #"{"state": "broken"}"#) { workplace, server, environment in
            try workplace.write(
                "model.json", document("", batch: #", "stopAfter": 3"#, service: #", "limits": { "computations": 1 }"#))
            let end = try await workplace.run(
                "run", "model.json", "--each", "rows.csv", "--batch", "june", environment: environment)
            #expect(end.cause == .exited(75), "\(end)")
            #expect(orders(server) == 3)
            let counts = try await workplace.show("june")["counts"]
            let failed = counts?["failed"]?.number?.int
            #expect(failed == orders(server), "\(counts?.text ?? "")")
            #expect(counts?["suspended"]?.number?.int == 30 - orders(server), "\(counts?.text ?? "")")
        }
    }

    /// All were ordered, some a second, although the first three were refused alike. What had its turn before the third was
    /// kept is sent.
    @Test("items that wait for their turn, since a service takes so many requests a second")
    func turns() async throws {
        try await withWorkplace { workplace in
            let server = try LoopbackServer { _ in .status(422, body: "no credit") }
            defer { server.stop() }
            try workplace.write("rows.csv", "file\n" + (1...15).map { "talk-\($0)\n" }.joined())
            try workplace.write(
                "model.json",
                document("", batch: #", "stopAfter": 3"#, service: #", "limits": { "requestsPerSecond": 3 }"#))
            let end = try await workplace.run(
                "run", "model.json", "--each", "rows.csv", "--batch", "june", environment: ["API_URL": server.url])
            #expect(end.cause == .exited(75), "\(end)")
            #expect(orders(server) <= 6)
            let shown = try await workplace.show("june")
            #expect(shown["cause"] == "sameFailure", "\(shown.text)")
            #expect(shown["counts"]?["failed"]?.number?.int == orders(server), "\(shown.text)")
        }
    }

    /// All sixty were ordered: they had begun while one cost a hundredth, and waited for a place.
    @Test("items that wait for one of a service's places, once the others have cost what may be spent")
    func spentPlaces() async throws {
        try await withService { workplace, server, environment in
            let cost = #""cost": "contains(inputs.file, 'dear') ? 3 : 0.01","#
            try workplace.write("model.json", document(cost, service: #", "limits": { "computations": 2 }"#))
            func run() async throws -> ProgramEnd {
                try await workplace.run(
                    "run", "model.json", "--each", "rows.csv", "--batch", "june", "--spend", "8",
                    environment: environment)
            }
            #expect(try await run().cause == .exited(0))
            #expect(orders(server) == 30)
            let rows = (1...30).map { "talk-\($0)\n" } + (1...20).map { "dear-\($0)\n" }
            try workplace.write("rows.csv", "file\n" + rows.joined())
            let end = try await run()
            #expect(end.cause == .exited(75), "\(end)")
            let shown = try await workplace.show("june")
            #expect(shown["cause"] == "spent", "\(shown.text)")
            // Those that had their places when it was passed end.
            #expect(orders(server) == 34)
            let rest = try await workplace.run(
                "run", "model.json", "--each", "rows.csv", "--batch", "june", environment: environment)
            #expect(rest.cause == .exited(0), "\(rest)")
            #expect(
                rest.errors.contains("note: batch june may spend any amount by this command, and 8 by the one before"),
                "\(rest)")
        }
    }

    /// Thirty were ordered where ten could be paid for.
    @Test("a batch whose accepted jobs end otherwise than by their own end, once their cost is what may be spent")
    func deadline() async throws {
        try await withService(poll: #"{"state": "busy"}"#) { workplace, server, environment in
            try workplace.write(
                "model.json",
                document(
                    #""cost": "0.5", "deadline": "300ms","#, batch: #", "stopAfter": 1000, "atOnce": 2"#))
            let end = try await workplace.run(
                "run", "model.json", "--each", "rows.csv", "--batch", "june", "--tolerate", "100%", "--spend", "3",
                environment: environment)
            #expect(end.cause == .exited(75), "\(end)")
            let shown = try await workplace.show("june")
            #expect(shown["cause"] == "spent" && shown["cost"]?.number?.double == 3, "\(shown.text)")
            #expect(orders(server) == 6)
        }
    }

    /// It was refused for ever, for the old row's item had the file.
    @Test("nothing of a row that was mended: it runs, and writes the file of the one that failed")
    func mendedRow() async throws {
        try await withWorkplace { workplace in
            let server = try LoopbackServer { request in
                request.path == "/bad" ? .json("{}", status: 422) : .json(#"{"is": "good"}"#)
            }
            defer { server.stop() }
            try workplace.write(
                "get.json",
                """
                { "pipeline": 1, "name": "get", "inputs": { "n": { "type": "string" }, "path": { "type": "string" } },
                  "services": { "api": { "url": "${{ env.API_URL }}" } },
                  "batch": { "results": { "name": "${{ inputs.n }}", "is": "${{ stages.get.is }}" } },
                  "stages": [ { "id": "get", "kind": "request", "service": "api", "to": "${{ inputs.n }}.json",
                    "request": { "GET": "/${{ inputs.path }}", "capture": { "is": "$.is" } } } ] }
                """)
            try workplace.write("rows.jsonl", #"{"n": "a", "path": "good"}"# + "\n" + #"{"n": "b", "path": "bad"}"#)
            func run() async throws -> ProgramEnd {
                try await workplace.run(
                    "run", "get.json", "--each", "rows.jsonl", "--batch", "june", environment: ["API_URL": server.url])
            }
            #expect(try await run().cause == .exited(1))
            let rows = try await workplace.run("results", "june")
            #expect(rows.lines.contains { $0.contains(#""name":"b","is":null"#) }, "\(rows)")
            try workplace.write("rows.jsonl", #"{"n": "a", "path": "good"}"# + "\n" + #"{"n": "b", "path": "ok"}"#)
            let mended = try await run()
            #expect(mended.cause == .exited(0), "\(mended)")
            #expect(workplace.bytes(workplace.path("b.json")) != nil)
        }
    }

    /// What stood in a secret object was in the files of results, and sealed texts as they are sealed.
    @Test("no secret in results")
    func secretResults() async throws {
        try await withWorkplace { workplace in
            let server = try LoopbackServer { request in
                .json(#"{"user": {"pw": "hunter2", "name": "bob"}, "echo": "see \#(request.target)"}"#)
            }
            defer { server.stop() }
            try workplace.write(
                "get.json",
                """
                { "pipeline": 1, "name": "get", "inputs": { "n": { "type": "string" } },
                  "services": { "api": { "url": "${{ env.API_URL }}" } },
                  "batch": { "results": { "user": "${{ stages.get.user }}", "pw": "${{ stages.get.user.pw }}",
                                          "echo": "${{ stages.get.echo }}" } },
                  "stages": [ { "id": "get", "kind": "request", "service": "api",
                    "request": { "GET": "/x", "query": { "key": "${{ secrets.key }}" },
                      "capture": { "user": { "select": "$.user", "secret": true }, "echo": "$.echo" } } } ] }
                """)
            try workplace.write("rows.jsonl", #"{"n": "a"}"#)
            let end = try await workplace.run(
                "run", "get.json", "--each", "rows.jsonl", "--batch", "june",
                environment: ["API_URL": server.url, "PIPELINE_SECRET_key": "a-long-secret"])
            #expect(end.cause == .exited(0), "\(end)")
            let rows = try await workplace.run("results", "june")
            #expect(rows.output.contains(#""user":"‹secret›""#), "\(rows)")
            for text in ["hunter2", "bob", "a-long-secret", "#"] { #expect(!rows.output.contains(text), "\(rows)") }
        }
    }
}
