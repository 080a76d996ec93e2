import Foundation
import JSONPath
import PipelineTestKit
import Synchronization
import Testing

/// What a batch costs, what bounds that, and what it tells while reading.
@Suite("A batch's money and files")
struct CostTests {
    private func document(_ stage: String, to: String = "") -> String {
        """
        { "pipeline": 1, "name": "model", "inputs": { "file": { "type": "string" } },
          "batch": { "key": "${{ inputs.file }}" },
          "services": { "api": { "url": "${{ env.API_URL }}" } },
          "stages": [
            { "id": "model", "kind": "request", "service": "api", \(stage)
              "request": { "POST": "/models", "json": { "name": "${{ inputs.file }}" }, "once": { "resend": true } }
              \(to) } ] }
        """
    }

    private func withScene(_ body: (Workplace, [String: String]) async throws -> Void) async throws {
        try await withWorkplace { workplace in
            let server = try LoopbackServer { request in
                let name = (try? JSON.parse(request.body))?["name"]?.string ?? ""
                return name.hasPrefix("bad")
                    ? .json(#"{"error": "bad"}"#, status: 422) : .json(#"{"usage": {"total": 250}}"#)
            }
            defer { server.stop() }
            try await body(workplace, ["API_URL": server.url])
        }
    }

    private func lines(_ names: some Sequence<String>) -> String { names.joined(separator: "\n") + "\n" }

    @Test("is summed over items, and stops the batch before it is passed; more goes on")
    func spend() async throws {
        try await withScene { workplace, environment in
            try workplace.write("model.json", document(#""cost": "response.body.usage.total * 0.002","#))
            try workplace.write("rows.csv", "file\n" + lines((1...40).map { "talk-\($0)" }))
            let end = try await workplace.run(
                "run", "model.json", "--each", "rows.csv", "--batch", "june", "--spend", "12", environment: environment)
            #expect(end.cause == .exited(75), "\(end)")
            #expect(end.errors.contains("go on with: pipeline resume june --spend MORE"), "\(end)")
            let shown = try await workplace.show("june")
            #expect(shown["cause"] == "spent" && shown["cost"]?.number?.double == 12, "\(shown.text)")
            #expect(shown["counts"]?["succeeded"] == 24 && shown["counts"]?["pending"] == 16, "\(shown.text)")
            #expect(try await workplace.show("june/talk-1")["cost"]?.number?.double == 0.5)
            let text = try await workplace.run("show", "june")
            #expect(text.output.contains("cost      12 of 12"), "\(text)")
            let more = try await workplace.run("resume", "june", "--spend", "100", environment: environment)
            #expect(more.cause == .exited(0), "\(more)")
            #expect(try await workplace.show("june")["cost"]?.number?.double == 20)
            let rows = try await workplace.run("results", "june")
            #expect(rows.lines.count == 40 && rows.lines.allSatisfy { $0.contains(#""cost":0.5"#) }, "\(rows)")
        }
    }

    /// Runs thirty items, of whose remote jobs each costs 0.5, with 6 to spend: the poll's answer and what it is for.
    private func withPaidJobs(
        _ answer: String, poll: String, _ body: (Workplace, LoopbackServer, [String: String]) async throws -> Void
    ) async throws {
        try await withWorkplace { workplace in
            let server = try LoopbackServer { request in
                request.path == "/jobs" ? .json(#"{"id": "j"}"#) : .json(answer)
            }
            defer { server.stop() }
            try workplace.write(
                "model.json",
                """
                { "pipeline": 1, "name": "model", "inputs": { "file": { "type": "string" } },
                  "batch": { "key": "${{ inputs.file }}", "stopAfter": 1000 },
                  "services": { "api": { "url": "${{ env.API_URL }}" } },
                  "stages": [
                    { "id": "model", "kind": "compute", "service": "api", "cost": "response.body.price",
                      "submit": { "POST": "/jobs", "capture": { "id": "$.id" }, "once": { "resend": true } },
                      "poll": { "GET": "/jobs/${{ self.id }}", "status": "$.state", "succeeded": ["done"],
                                \(poll) } } ] }
                """)
            try workplace.write("rows.csv", "file\n" + lines((1...30).map { "talk-\($0)" }))
            let environment = ["API_URL": server.url]
            let end = try await workplace.run(
                "run", "model.json", "--each", "rows.csv", "--batch", "june", "--tolerate", "100%", "--spend", "6",
                environment: environment)
            #expect(end.cause == .exited(75), "\(end)")
            let shown = try await workplace.show("june")
            #expect(shown["cause"] == "spent" && shown["cost"]?.number?.double == 6, "\(shown.text)")
            #expect(shown["counts"]?["failed"] == 12 && shown["counts"]?["pending"] == 18, "\(shown.text)")
            try await body(workplace, server, environment)
        }
    }

    /// "cost" was judged of what had succeeded alone: sixty jobs were paid for where a tenth of that was to be spent.
    @Test("counts what the service bills for remote jobs that failed, and again for those that are tried again")
    func failedJobs() async throws {
        let answer = #"{"state": "broken", "price": 0.5}"#
        try await withPaidJobs(answer, poll: #""failed": ["broken"]"#) { workplace, _, environment in
            let again = try await workplace.run("retry", "june/talk-1", environment: environment)
            #expect(again.errors.contains("which submits stage 'model' again"), "\(again)")
            #expect(try await workplace.show("june/talk-1")["cost"]?.number?.double == 1)
        }
    }

    /// What was billed and whose answer lacked a capture cost nothing; a resume asks for the same remote job again.
    @Test("counts what can't be used once, over all attempts; and expects of the rest what those have cost")
    func unusable() async throws {
        let (answer, poll) = (#"{"state": "done", "price": 0.5}"#, #""capture": { "url": "$.result.url" }"#)
        try await withPaidJobs(answer, poll: poll) { workplace, server, environment in
            _ = try await workplace.run("retry", "june/talk-1", environment: environment)
            #expect(try await workplace.show("june/talk-1")["cost"]?.number?.double == 0.5, "it is the same remote job")
            #expect(server.requests.count { $0.path == "/jobs" } == 12)
            #expect(try await workplace.show("june")["cost"]?.number?.double == 6)
        }
    }

    /// Sixty jobs were ordered and paid for of which none could be asked for: unknown ones stopped nothing.
    @Test("stops when the first submits are all unknown alike, and counts what was ordered", arguments: [false, true])
    func unknownSubmits(isRequest: Bool) async throws {
        try await withWorkplace { workplace in
            let server = try LoopbackServer { _ in .json(#"{"job": "j", "price": 0.5}"#) }
            defer { server.stop() }
            let work =
                isRequest
                ? #""kind": "request", "request": { "POST": "/jobs" }, "capture": { "id": "$.id" }"#
                : #""kind": "compute", "submit": { "POST": "/jobs", "capture": { "id": "$.id" } }, "poll": { "GET": "/jobs/${{ self.id }}", "until": "true" }"#
            try workplace.write(
                "model.json",
                """
                { "pipeline": 1, "name": "model", "inputs": { "file": { "type": "string" } },
                  "batch": { "key": "${{ inputs.file }}", "stopAfter": 5, "atOnce": 1 },
                  "services": { "api": { "url": "${{ env.API_URL }}" } },
                  "stages": [ { "id": "model", "service": "api", "cost": "response.body.price", \(work) } ] }
                """)
            try workplace.write("rows.csv", "file\n" + lines((1...30).map { "talk-\($0)" }))
            let environment = ["API_URL": server.url]
            let end = try await workplace.run(
                "run", "model.json", "--each", "rows.csv", "--batch", "june", environment: environment)
            #expect(end.cause == .exited(75) || end.cause == .exited(3), "\(end)")
            #expect(server.requests.count == 5)
            #expect(end.errors.contains("? talk-1: it is not known whether the service took the submit: "), "\(end)")
            let shown = try await workplace.show("june")
            #expect(shown["cause"] == "sameFailure" && shown["cost"]?.number?.double == 2.5, "\(shown.text)")
            #expect(shown["counts"]?["unknown"] == 5 && shown["counts"]?["pending"] == 25, "\(shown.text)")
        }
    }

    /// The mean was all that was ever spent over the items that had ended anew: nothing began. An attached resume then failed
    /// all that had not begun, for their files were there.
    @Test("bounds items that are done again by what one costs; a resume replaces files as the run was allowed to")
    func spentAgain() async throws {
        try await withScene { workplace, environment in
            let source = document(
                #""cost": "response.body.usage.total * 0.002","#, to: #", "to": "${{ inputs.file }}.json""#)
            try workplace.write(
                "model.json",
                source.replacingOccurrences(
                    of: #""inputs": {"#, with: #""inputs": { "text": { "type": "string" },"#
                ).replacingOccurrences(of: #""json": {"#, with: #""json": { "text": "${{ inputs.text }}","#))
            func run(_ text: String, _ more: String...) async throws -> ProgramEnd {
                try workplace.write("rows.csv", "file,text\n" + lines((1...20).map { "talk-\($0),\(text)" }))
                return try await workplace.program.run(
                    ["run", "model.json", "--each", "rows.csv", "--batch", "june", "--output", "out"] + more,
                    environment: workplace.environment(environment), folder: workplace.folder)
            }
            #expect(try await run("a").cause == .exited(0))
            let second = try await run("b", "--changed", "--overwrite", "--spend", "14")
            #expect(second.cause == .exited(75), "\(second)")
            let shown = try await workplace.show("june")
            #expect(shown["cost"]?.number?.double == 14 && shown["counts"]?["succeeded"] == 8, "\(shown.text)")
            let resumed = try await workplace.run("resume", "june", "--spend", "100", environment: environment)
            #expect(resumed.cause == .exited(0) && resumed.errors.contains("june: 20/20 succeeded"), "\(resumed)")
        }
    }

    /// Each time as many as may be at once were begun, and paid for, before the rows of what had failed were read.
    @Test("that had too many failures begins nothing by the same command, until more are tolerated or a person says so")
    func toleranceAgain() async throws {
        try await withScene { workplace, environment in
            try workplace.write("model.json", document(""))
            try workplace.write(
                "rows.csv", "file\n" + lines((1...20).map { $0 <= 3 ? "bad-\($0)" : "talk-\($0)" }))
            func run(_ tolerate: String) async throws -> ProgramEnd {
                try await workplace.run(
                    "run", "model.json", "--each", "rows.csv", "--batch", "june", "--tolerate", tolerate, "--at-once",
                    "1", environment: environment)
            }
            #expect(try await run("2").cause == .exited(75))
            let counts = try await workplace.show("june")["counts"]
            #expect(counts?["failed"] == 3 && counts?["pending"] == 17, "\(counts?.text ?? "")")
            for tolerate in ["2", "10%"] {
                let again = try await run(tolerate)
                #expect(again.cause == .exited(75), "\(again)")
                #expect(again.errors.contains("suspended (more items failed than are tolerated)"), "\(again)")
                let after = try await workplace.show("june")["counts"]
                #expect(after == counts, "\(after?.text ?? "")")
            }
            let more = try await run("3")
            #expect(more.cause == .exited(0) && more.errors.contains("june: 17/20 succeeded"), "\(more)")
        }
    }

    @Test("goes on after too many failures for as many more")
    func tolerance() async throws {
        try await withScene { workplace, environment in
            try workplace.write("model.json", document(""))
            let names = (1...30).map { $0 % 3 == 0 ? "bad-\($0)" : "talk-\($0)" }
            try workplace.write("rows.csv", "file\n" + lines(names))
            let first = try await workplace.run(
                "run", "model.json", "--each", "rows.csv", "--batch", "june", "--tolerate", "2", "--at-once", "1",
                environment: environment)
            #expect(first.cause == .exited(75), "\(first)")
            #expect(try await workplace.show("june")["counts"]?["failed"] == 3)
            let second = try await workplace.run("resume", "june", environment: environment)
            #expect(second.cause == .exited(75), "\(second)")
            let counts = try await workplace.show("june")["counts"]
            #expect(counts?["failed"] == 6 && counts?["succeeded"] == 12, "\(counts?.text ?? "")")
        }
    }

    @Test("two items that would write one file are told while they are read; the first is done")
    func targets() async throws {
        try await withScene { workplace, environment in
            try workplace.write(
                "model.json", document("", to: #", "to": "out/${{ basename(inputs.file) }}.json""#))
            try workplace.write("rows.csv", "file\n" + lines(["a/x", "b/x", "c/y"]))
            let end = try await workplace.run(
                "run", "model.json", "--each", "rows.csv", "--batch", "june", environment: environment)
            #expect(end.cause == .exited(1) && end.lines.count == 2, "\(end)")
            #expect(end.errors.contains("it would write"), "\(end)")
            let counts = try await workplace.show("june")["counts"]
            #expect(counts?["failed"] == 1 && counts?["succeeded"] == 2, "\(counts?.text ?? "")")
        }
    }

    /// With --overwrite all of them succeeded, and one file was left.
    @Test("one file is one by whatever spelling, and over links")
    func spellings() async throws {
        try await withScene { workplace, environment in
            try workplace.write("model.json", document("", to: #", "to": "${{ inputs.file }}.json""#))
            try FileManager.default.createSymbolicLink(
                atPath: workplace.path("out/link"), withDestinationPath: "real")
            try FileManager.default.createDirectory(
                atPath: workplace.path("out/real"), withIntermediateDirectories: true)
            try workplace.write(
                "rows.csv", "file\n" + lines([".//a", "a", "none/../a", "none/sub/../../a", "link/b", "real/b", "c"]))
            let end = try await workplace.run(
                "run", "model.json", "--each", "rows.csv", "--batch", "june", "--output", "out", "--overwrite",
                environment: environment)
            #expect(end.cause == .exited(1), "\(end)")
            let files = ["a", "c", "link/b"].map { "\(workplace.output)/\($0).json" }
            #expect(end.lines.sorted() == files, "\(end)")
            #expect(end.errors.contains("june: 3/7 succeeded, 4 failed"), "\(end)")
        }
    }

    /// With --overwrite all of them succeeded, and one result was left; without it all waited as one part.
    @Test("items that learn the same name from their answers leave each other's results alone, --overwrite or not")
    func learntNames() async throws {
        try await withWorkplace { workplace in
            let server = try LoopbackServer { request in
                .status(
                    200, headers: [("Content-Disposition", #"attachment; filename="result""#)],
                    body: "of \(request.path)")
            }
            defer { server.stop() }
            try workplace.write(
                "get.json",
                """
                { "pipeline": 1, "name": "get", "inputs": { "id": { "type": "string" } },
                  "batch": { "key": "${{ inputs.id }}" },
                  "services": { "api": { "url": "${{ env.API_URL }}" } },
                  "stages": [ { "id": "fetch", "kind": "download", "service": "api",
                                "request": { "GET": "/${{ inputs.id }}" }, "to": "dl/" } ] }
                """)
            try workplace.write("rows.csv", "id\n" + lines(["a", "b", "c"]))
            let end = try await workplace.run(
                "run", "get.json", "--each", "rows.csv", "--batch", "june", "--at-once", "1", "--output", "out",
                environment: ["API_URL": server.url])
            let again = try await workplace.run(
                "retry", "june", "--overwrite", environment: ["API_URL": server.url])
            for end in [end, again] {
                #expect(end.cause == .exited(1), "\(end)")
                #expect(end.errors.contains("june: 1/3 succeeded, 2 failed"), "\(end)")
                #expect(end.errors.contains("dl/result is the file of the item 'a', and is not replaced"), "\(end)")
            }
            #expect(server.requests.count == 3, "what waits is not fetched again")
            // Another batch in the same folder took the parts of the first, by the same numbers.
            try workplace.write("rows.csv", "id\n" + lines(["x", "y", "z"]))
            let other = try await workplace.run(
                "run", "get.json", "--each", "rows.csv", "--batch", "july", "--at-once", "1", "--output", "out",
                environment: ["API_URL": server.url])
            #expect(other.errors.contains("july: 0/3 succeeded, 3 failed"), "\(other)")
            let names = workplace.files(below: workplace.output)
            func texts(_ start: String) -> [String] {
                names.filter { $0.hasPrefix("dl/\(start)") }.map {
                    String(decoding: workplace.bytes("\(workplace.output)/\($0)") ?? [], as: UTF8.self)
                }.sorted()
            }
            #expect(workplace.bytes("\(workplace.output)/dl/result") == Array("of /a".utf8))
            #expect(texts("result.part") == ["of /x"], "\(names)")
            #expect(texts("result.2-") == ["of /b", "of /y"] && texts("result.3-") == ["of /c", "of /z"], "\(names)")
            #expect(names.count == 6, "\(names)")
        }
    }

    @Test("that no item names can't be bounded: the batch stops, says why, and goes on once the document is mended")
    func unknownCost() async throws {
        try await withScene { workplace, environment in
            try workplace.write("model.json", document(#""cost": "response.body.prize","#))
            try workplace.write("rows.csv", "file\n" + lines((1...40).map { "talk-\($0)" }))
            let command = ["run", "model.json", "--each", "rows.csv", "--batch", "june", "--spend", "30"]
            func run(_ more: String...) async throws -> ProgramEnd {
                try await workplace.program.run(
                    command + ["--at-once", "1"] + more, environment: workplace.environment(environment),
                    folder: workplace.folder)
            }
            let end = try await run()
            #expect(end.cause == .exited(75), "\(end)")
            #expect(end.errors.contains("no item has said what it cost"), "\(end)")
            #expect(end.errors.contains("mend \"cost\" in the document"), "\(end)")
            #expect(try await workplace.show("june")["counts"]?["succeeded"] == 10)
            let item = try await workplace.program.run(
                ["why", "june/talk-40"], environment: workplace.environment(environment), folder: workplace.folder)
            #expect(item.output.contains("the batch is suspended: no item has said what it cost"), "\(item)")
            try workplace.write("model.json", document(#""cost": "response.body.usage.total * 0.002","#))
            let mended = try await run("--changed")
            #expect(mended.cause == .exited(0), "\(mended)")
            #expect(try await workplace.show("june")["cost"]?.number?.double == 15)
        }
    }

    // Rows in which there is nothing to pay were once taken for rows that do not say what they cost.
    @Test("is 0 where the stage that costs is skipped, which stops nothing; what says no number stops it still")
    func skippedCost() async throws {
        try await withScene { workplace, environment in
            let names = (1...15).map { "old-\($0)" } + (1...15).map { "talk-\($0)" }
            try workplace.write("rows.csv", "file\n" + lines(names))
            func run(_ batch: String, _ cost: String) async throws -> ProgramEnd {
                try workplace.write(
                    "model.json", document(#""when": "startsWith(inputs.file, 'talk')", "cost": "\#(cost)","#))
                return try await workplace.run(
                    "run", "model.json", "--each", "rows.csv", "--batch", batch, "--spend", "30", "--at-once", "1",
                    environment: environment)
            }
            let end = try await run("june", "response.body.usage.total * 0.002")
            #expect(end.cause == .exited(0), "\(end)")
            #expect(try await workplace.show("june")["cost"]?.number?.double == 7.5)
            let rows = try await workplace.run("results", "june")
            #expect(rows.lines.filter { $0.contains(#""cost":0,"#) }.count == 15, "\(rows)")
            let slip = try await run("july", "response.body.prize")
            #expect(slip.cause == .exited(75) && slip.errors.contains("mend \"cost\" in the document"), "\(slip)")
            #expect(try await workplace.show("july")["counts"]?["succeeded"] == 25)
        }
    }

    @Test("its rows of results go into a regular file alone; nothing begins before that is known")
    func results() async throws {
        try await withScene { workplace, environment in
            try workplace.write("model.json", document(""))
            try workplace.write("rows.csv", "file\na\n")
            try #require(mkfifo(workplace.path("pipe"), 0o600) == 0)
            for path in ["pipe", "/dev/full"] {
                let end = try await workplace.run(
                    "run", "model.json", "--each", "rows.csv", "--batch", "june", "--results", path,
                    environment: environment, limit: .seconds(20))
                #expect(end.cause == .exited(2) && end.errors.contains("is no regular file"), "\(end)")
            }
            #expect(try await workplace.run("show", "june").cause == .exited(64))
        }
    }

    /// Each poll of a failed model has the status 200, by which all of them were alike.
    @Test("items that fail for reasons of their own do not stop it")
    func ownReasons() async throws {
        try await withWorkplace { workplace in
            let count = Mutex(0)
            let server = try LoopbackServer { request in
                if request.method == "POST" { return .json(#"{"id": "\#(request.header("Idempotency-Key") ?? "")"}"#) }
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                let reason = ["no face in it", "too dark", "blurred"][number % 3]
                return .json(#"{"state": "error", "message": "\#(reason)"}"#)
            }
            defer { server.stop() }
            try workplace.write(
                "held.json",
                HeldService.document.replacingOccurrences(
                    of: #""succeeded": ["done"]"#,
                    with: #""succeeded": ["done"], "failed": ["error"], "message": "$.message""#))
            try workplace.write("rows.csv", HeldService.rows(14).text)
            let end = try await workplace.run(
                "run", "held.json", "--each", "rows.csv", "--batch", "june", "--at-once", "1",
                environment: ["API_URL": server.url])
            #expect(end.cause == .exited(1) && end.errors.contains("june: 0/14 succeeded, 14 failed"), "\(end)")
            #expect(!end.errors.contains(": 200 "), "\(end)")
        }
    }
}
