import Foundation
import JSONPath
import PipelineTestKit
import Synchronization
import Testing

@Suite("A batch")
struct BatchTests {
    private struct Scene {
        let workplace: Workplace
        let service: BatchService

        func add(_ names: some Sequence<String>) throws {
            for name in names { try workplace.write("in/\(name)", name) }
        }

        func run(_ arguments: String..., crashing: String? = nil) async throws -> ProgramEnd {
            var more = ["API_URL": service.server.url]
            more["PIPELINE_CRASH_AT"] = crashing
            return try await workplace.program.run(
                arguments, environment: workplace.environment(more), folder: workplace.folder)
        }

        /// The command by which a batch begins and is run again.
        func batch(_ arguments: String..., crashing: String? = nil) async throws -> ProgramEnd {
            var more = ["API_URL": service.server.url]
            more["PIPELINE_CRASH_AT"] = crashing
            let all = ["run", "caption.json", "--each", "file=in/*", "--batch", "june", "--output", "out"] + arguments
            return try await workplace.program.run(
                all, environment: workplace.environment(more), folder: workplace.folder)
        }

        func counts() async throws -> [String: Int] {
            let shown = try await workplace.show("june")["counts"]?.object ?? [:]
            let pairs = shown.map { ($0.name, $0.value.number?.int ?? 0) }.filter { $0.1 > 0 }
            return Dictionary(uniqueKeysWithValues: pairs)
        }
    }

    private func withScene(_ body: (Scene) async throws -> Void) async throws {
        try await withWorkplace { workplace in
            let service = try BatchService()
            defer { service.server.stop() }
            try FileManager.default.createDirectory(
                atPath: workplace.path("in"), withIntermediateDirectories: true)
            try workplace.write("caption.json", BatchService.document)
            try await body(Scene(workplace: workplace, service: service))
        }
    }

    private func names(_ range: ClosedRange<Int>) -> [String] { range.map { "talk-\($0).wav" } }

    /// Only those of the batch's own job were removed, and it has none.
    @Test(
        "that is forgotten leaves no exchanges of its items",
        arguments: [["rm", "june"], ["prune", "--older-than", "0s"]])
    func forgotten(command: [String]) async throws {
        try await withScene { scene in
            try scene.add(names(1...3))
            let end = try await scene.batch()
            #expect(end.cause == .exited(0), "\(end)")
            let exchanges = scene.workplace.state + "/exchanges"
            #expect(scene.workplace.files(below: exchanges).count == 3)
            let forgotten = try await scene.workplace.program.run(
                command, environment: scene.workplace.environment(), folder: scene.workplace.folder)
            #expect(forgotten.cause == .exited(0), "\(forgotten)")
            #expect(scene.workplace.files(below: exchanges).isEmpty)
        }
    }

    @Test("killed again and again loses no item and submits none twice; its results file has each once")
    func killed() async throws {
        try await withScene { scene in
            try scene.add(names(1...60))
            let points = [
                "submit.intent:3", "submit.sending:7", "submit.sent:5", "submit.answered:9", "submit.committed:4",
                "poll.answered:8", "download.verified:3", "download.renamed:6",
            ]
            let first = try await scene.batch(
                "--at-once", "7", "--results", "results.jsonl", crashing: points[0])
            #expect(first.cause == .killed(SIGKILL), "\(first)")
            for point in points.dropFirst() {
                let end = try await scene.run("resume", "june", crashing: point)
                #expect(end.cause == .killed(SIGKILL), "\(point): \(end)")
            }
            let last = try await scene.run("resume", "june")
            #expect(last.cause == .exited(0), "\(last)")
            #expect(scene.service.names == names(1...60).sorted())
            #expect(try await scene.counts() == ["succeeded": 60])
            #expect(scene.workplace.files(below: scene.workplace.output).count == 60)
            let text = String(
                decoding: scene.workplace.bytes(scene.workplace.path("results.jsonl")) ?? [], as: UTF8.self)
            let rows = try text.split(separator: "\n").map { try JSON.parse(Array($0.utf8)) }
            #expect(rows.compactMap { $0["item"]?.string }.sorted() == names(1...60).sorted())
            #expect(rows.allSatisfy { $0["state"] == "succeeded" && $0["attempt"] == 1 })
        }
    }

    @Test("run again does only what is new; what failed is left alone, and retry begins it anew")
    func again() async throws {
        try await withScene { scene in
            try scene.add(names(1...5) + ["bad-1.wav", "bad-2.wav"])
            let first = try await scene.batch()
            #expect(first.cause == .exited(1) && first.lines.count == 5, "\(first)")
            #expect(
                first.errors.contains(
                    "✗ 2 at model: service 'api' answered 422 Unprocessable Content: too long  e.g. bad-1.wav — "
                        + "pipeline show june/bad-1.wav"), "\(first)")
            try scene.add(names(6...8))
            let second = try await scene.batch()
            #expect(second.cause == .exited(1) && second.lines.count == 3, "\(second)")
            #expect(scene.service.names == names(1...8).sorted())
            let shown = try await scene.run("show", "june/bad-1.wav", "--json")
            #expect(try JSON.parse(Array(shown.output.utf8))["error"]?["status"] == 422, "\(shown)")
            scene.service.mend()
            let third = try await scene.run("retry", "june", "--item", "bad-2.wav")
            #expect(third.cause == .exited(1) && third.lines.count == 1, "\(third)")
            let fourth = try await scene.run("retry", "june")
            #expect(fourth.cause == .exited(0) && fourth.lines.count == 1, "\(fourth)")
            #expect(scene.service.names == (names(1...8) + ["bad-1.wav", "bad-2.wav"]).sorted())
            let nothing = try await scene.run("retry", "june")
            #expect(nothing.cause == .exited(64), "\(nothing)")
            #expect(try await scene.workplace.show("june")["state"] == "succeeded", "what has ended stays ended")
        }
    }

    @Test("with --strict takes an item that failed before for no bad row")
    func strictAfterFailure() async throws {
        try await withScene { scene in
            try scene.add(["bad-1.wav"])
            #expect(try await scene.batch().cause == .exited(1))
            try scene.add(names(1...2))
            let end = try await scene.batch("--strict")
            #expect(end.cause == .exited(1) && end.lines.count == 2, "\(end)")
            #expect(!end.errors.contains("--strict starts nothing"), "\(end)")
        }
    }

    /// The batch could not be run, resumed or retried any more: each looked for the job that was gone.
    @Test("begins an item again whose job was removed")
    func removed() async throws {
        try await withScene { scene in
            try scene.add(names(1...2) + ["bad-1.wav"])
            #expect(try await scene.batch().cause == .exited(1))
            #expect(try await scene.run("rm", "june/bad-1.wav").cause == .exited(0))
            #expect(try await scene.run("show", "june/bad-1.wav").cause == .exited(0))
            scene.service.mend()
            let retried = try await scene.run("retry", "june")
            #expect(retried.cause == .exited(0) && retried.lines.count == 1, "\(retried)")
            #expect(scene.service.names == (names(1...2) + ["bad-1.wav"]).sorted())
            #expect(try await scene.run("show", "june/bad-1.wav", "--json").cause == .exited(0))
        }
    }

    @Test("another input or document is told; --changed takes it")
    func changed() async throws {
        try await withScene { scene in
            try scene.add(names(1...2))
            #expect(try await scene.batch().cause == .exited(0))
            let other = try await scene.batch("-i", "lang=de")
            #expect(other.cause == .exited(2), "\(other)")
            #expect(other.errors.contains("the input 'lang' of the batch 'june' differs"), "\(other)")
            #expect(try await scene.batch("-i", "lang=de", "--changed").cause == .exited(0))
            #expect(try await scene.batch("-i", "lang=de").cause == .exited(0), "the new is what it has by now")
        }
    }

    @Test("stops when the last items all failed alike, or more than is tolerated, and goes on when told")
    func stops() async throws {
        try await withScene { scene in
            try scene.add((1...40).map { "bad-\($0).wav" })
            let same = try await scene.batch("--at-once", "1")
            #expect(same.cause == .exited(75), "\(same)")
            #expect(same.errors.contains("suspended (the last items all failed alike)"), "\(same)")
            #expect(try await scene.counts() == ["failed": 10, "pending": 30])
            #expect(try await scene.workplace.show("june")["cause"] == "sameFailure")
            scene.service.mend()
            #expect(try await scene.run("retry", "june").cause == .exited(0))
            #expect(try await scene.counts() == ["succeeded": 40])
        }
        try await withScene { scene in
            try scene.add((1...9).map { "bad-\($0).wav" })
            let many = try await scene.batch("--at-once", "1", "--tolerate", "3")
            #expect(many.cause == .exited(75), "\(many)")
            #expect(many.errors.contains("suspended (more items failed than are tolerated)"), "\(many)")
            #expect(try await scene.counts() == ["failed": 4, "pending": 5])
        }
    }

    @Test("an item that was not begun is cancelled by its name, and begun again by its name alone")
    func cancelledBeforeBegun() async throws {
        try await withScene { scene in
            try scene.add((1...12).map { "bad-\($0).wav" })
            #expect(try await scene.batch("--at-once", "1").cause == .exited(75))
            let pending = try await scene.run("list", "--items", "june", "--state", "pending", "--json")
            let items = try JSON.parse(Array(pending.output.utf8)).array ?? []
            let key = try #require(items.first?["item"]?.string)
            let name = "june/\(key)"
            let logs = try await scene.run("logs", name)
            #expect(logs.cause == .exited(0) && logs.errors.contains("has not begun"), "\(logs)")
            #expect(try await scene.run("logs", name, "--follow").cause == .exited(0), "nobody is there to begin it")
            let paused = try await scene.run("pause", name)
            #expect(paused.cause == .exited(64) && paused.errors.contains("'pipeline pause june'"), "\(paused)")
            let cancelled = try await scene.run("cancel", name)
            #expect(cancelled.cause == .exited(0), "\(cancelled)")
            #expect(
                cancelled.errors.contains("item \(key) of batch june is cancelled; it was not begun"), "\(cancelled)")
            #expect(try await scene.run("cancel", name).errors.contains("has ended already"))
            #expect(try await scene.run("why", name).errors == "")
            #expect(try await scene.counts() == ["failed": 10, "pending": 1, "cancelled": 1])
            scene.service.mend()
            let rest = try await scene.run("retry", "june")
            #expect(rest.cause == .exited(1), "not all of it is there: \(rest)")
            #expect(rest.errors.contains("is begun again with: pipeline retry june/ITEM"), "\(rest)")
            #expect(try await scene.counts() == ["succeeded": 11, "cancelled": 1])
            #expect(!scene.service.names.contains(key))
            let again = try await scene.run("retry", name)
            #expect(again.cause == .exited(0) && again.lines.count == 1, "\(again)")
            #expect(try await scene.counts() == ["succeeded": 12])
        }
    }

    /// A batch whose failures are tolerated had ended as cancelled, and its retry began again what a person had taken out.
    @Test("an item that was cancelled by its name is left alone by a retry of what failed, where that is tolerated too")
    func cancelledBesideTolerated() async throws {
        try await withScene { scene in
            try scene.add((1...12).map { "bad-\($0).wav" })
            #expect(try await scene.batch("--at-once", "1", "--tolerate", "12").cause == .exited(75))
            let pending = try await scene.run("list", "--items", "june", "--state", "pending", "--json")
            let items = try JSON.parse(Array(pending.output.utf8)).array ?? []
            let key = try #require(items.first?["item"]?.string)
            #expect(try await scene.run("cancel", "june/\(key)").cause == .exited(0))
            scene.service.mend()
            let rest = try await scene.run("resume", "june")
            #expect(rest.errors.contains("what was cancelled is begun again with: pipeline retry june/ITEM"), "\(rest)")
            #expect(try await scene.counts() == ["failed": 10, "succeeded": 1, "cancelled": 1])
            let retried = try await scene.run("retry", "june")
            #expect(retried.errors.contains("with: pipeline retry june/ITEM"), "\(retried)")
            #expect(try await scene.counts() == ["succeeded": 11, "cancelled": 1])
            #expect(!scene.service.names.contains(key))
        }
    }

    @Test("an item is cancelled before its turn while others are at work")
    func cancelledWhileRunning() async throws {
        try await withScene { scene in
            try scene.add(names(1...3))
            let gate = Gate()
            let slow = try LoopbackServer { _ in ScriptedAnswer([.wait(gate), .send(422, [], [])]) }
            defer { slow.stop() }
            let program = try scene.workplace.program.start(
                [
                    "run", "caption.json", "--each", "file=in/*", "--batch", "june", "--output", "out", "--at-once",
                    "1",
                    "--results", "results.jsonl",
                ],
                environment: scene.workplace.environment(["API_URL": slow.url]), folder: scene.workplace.folder)
            _ = await slow.requests(atLeast: 1)
            #expect(try await scene.run("cancel", "june/talk-2.wav").cause == .exited(0))
            gate.open()
            #expect(await program.end.cause == .exited(1))
            #expect(try await scene.counts() == ["failed": 2, "cancelled": 1])
            let text = String(
                decoding: scene.workplace.bytes(scene.workplace.path("results.jsonl")) ?? [], as: UTF8.self)
            #expect(text.split(separator: "\n").count == 3 && text.contains(#""state":"cancelled""#), "\(text)")
        }
    }

    @Test("a batch that was cancelled is begun again by its name with all that was cancelled in it")
    func cancelledWhole() async throws {
        try await withScene { scene in
            try scene.add(names(1...4))
            let isDone = Mutex(false)
            let asked = Mutex(Set<String>())
            let areAsked = Gate()
            let service = try LoopbackServer { request in
                if request.method == "POST" { return .json(#"{"id": "\#(request.header("Idempotency-Key") ?? "")"}"#) }
                let count = asked.withLock { asked in
                    asked.insert(request.path)
                    return asked.count
                }
                if count == 2 { areAsked.open() }
                let state = isDone.withLock { $0 ? "done" : "running" }
                return .json(request.path.hasPrefix("/jobs/") ? #"{"state": "\#(state)"}"# : "{}")
            }
            defer { service.stop() }
            let environment = scene.workplace.environment(["API_URL": service.url])
            let program = try scene.workplace.program.start(
                ["run", "caption.json", "--each", "file=in/*", "--batch", "june", "--output", "out", "--at-once", "2"],
                environment: environment, folder: scene.workplace.folder)
            await areAsked.wait()
            #expect(try await scene.run("cancel", "june").cause == .exited(0))
            let end = await program.end
            #expect(end.cause == .exited(1) && end.errors.contains("batch june was cancelled"), "\(end)")
            #expect(try await scene.counts() == ["cancelled": 2, "pending": 2])
            #expect(try await scene.workplace.show("june")["state"] == "cancelled")
            isDone.withLock { $0 = true }
            let again = try await scene.workplace.program.run(
                ["retry", "june"], environment: environment, folder: scene.workplace.folder)
            #expect(again.cause == .exited(0), "\(again)")
            #expect(try await scene.counts() == ["succeeded": 4])
        }
    }

    @Test("reads a table: a bad row is a failed item with its line, and a header that names no input begins nothing")
    func table() async throws {
        try await withScene { scene in
            try scene.add(names(1...2))
            try scene.workplace.write(
                "rows.csv", "file,lang\nin/talk-1.wav,de\nin/gone.wav,en\nin/talk-2.wav\nin/talk-2.wav,fr\n")
            let end = try await scene.run(
                "run", "caption.json", "--each", "rows.csv", "--batch", "t", "--output", "out")
            #expect(end.cause == .exited(1) && end.lines.count == 2, "\(end)")
            let rows = try await scene.run("results", "t", "--state", "failed")
            #expect(rows.lines.count == 2 && rows.output.contains(#""place":"rows.csv:3""#), "\(rows)")
            #expect(rows.output.contains("it has 1 fields, and the header 2"), "\(rows)")
            #expect(rows.output.contains(#""place":"rows.csv:4""#), "\(rows)")
            #expect(end.errors.contains("run the same command again"), "\(end)")
            #expect(!end.errors.contains("pipeline retry"), "no row that was begun has failed: \(end)")
            let inputs = try await scene.run("results", "t", "--state", "succeeded", "--inputs")
            #expect(inputs.lines.contains { $0.contains(#""lang":"de""#) }, "\(inputs)")
            let strict = try await scene.run("run", "caption.json", "--each", "rows.csv", "--batch", "s", "--strict")
            #expect(strict.cause == .exited(2), "\(strict)")
            #expect(try await scene.run("show", "s").cause == .exited(64), "nothing is left of it")
            for (text, part) in [
                ("fil,lang\n", "the header names 'fil', which is no input"),
                ("file,file\n", "the column 'file' stands twice"), ("lang\nde\n", "the input 'file' is missing"),
            ] {
                try scene.workplace.write("rows.csv", text)
                let end = try await scene.run("run", "caption.json", "--each", "rows.csv")
                #expect(end.cause == .exited(2) && end.errors.contains(part), "\(end)")
            }
            let pattern = try await scene.run("run", "caption.json", "--each", "lang=in/*", "-i", "file=in/talk-1.wav")
            #expect(pattern.cause == .exited(2), "\(pattern)")
            let reason = "finds files, and the input 'lang' is of the type \"string\""
            #expect(pattern.errors.contains(reason), "\(pattern)")
        }
    }

    @Test("does as the document's 'batch' says: keys of its own, and results")
    func document() async throws {
        try await withScene { scene in
            try scene.add(names(1...2))
            let batch =
                ##""batch": { "key": "${{ inputs.lang }}", "results": { "model": "${{ stages.model.id }}", "key": "${{ job.key }}" } },"##
            try scene.workplace.write(
                "caption.json",
                BatchService.document.replacingOccurrences(of: #""inputs": {"#, with: batch + #" "inputs": {"#))
            try scene.workplace.write(
                "rows.csv", "file,lang\nin/talk-1.wav,de\nin/talk-2.wav,en\nin/talk-2.wav,en\n")
            let end = try await scene.run(
                "run", "caption.json", "--each", "rows.csv", "--batch", "d", "--output", "out")
            #expect(end.cause == .exited(0) && end.lines.count == 2, "\(end)")
            let rows = try await scene.run("results", "d", "--csv")
            #expect(rows.lines.first == "item,state,files,cost,seconds,error,model,key", "\(rows)")
            #expect(rows.lines.contains { $0.hasPrefix("de,succeeded,") && $0.hasSuffix(",d.1") }, "\(rows)")
            #expect(rows.lines.contains { $0.hasPrefix("en,duplicate,") }, "\(rows)")
            let duplicate = try await scene.run("results", "d", "--state", "duplicate")
            #expect(duplicate.output.contains(#""model":null,"key":null"#), "\(duplicate)")
        }
    }

    @Test("stops on SIGINT with the line that goes on, and a second run joins a first")
    func interrupted() async throws {
        try await withScene { scene in
            try scene.add(names(1...20))
            let gate = Gate()
            let slow = try LoopbackServer { request in
                request.method == "POST" ? ScriptedAnswer([.wait(gate), .send(500, [], [])]) : .status(404)
            }
            defer { slow.stop() }
            let program = try scene.workplace.program.start(
                ["run", "caption.json", "--each", "file=in/*", "--batch", "june", "--output", "out"],
                environment: scene.workplace.environment(["API_URL": slow.url]), folder: scene.workplace.folder)
            _ = await slow.requests(atLeast: 1)
            let others = try (1...2).map { _ in
                try scene.workplace.program.start(
                    ["run", "caption.json", "--each", "file=in/*", "--batch", "june", "--output", "out"],
                    environment: scene.workplace.environment(["API_URL": slow.url]), folder: scene.workplace.folder)
            }
            for other in others { #expect(await other.hasWritten("is running in another process")) }
            let (second, third) = (others[0], others[1])
            third.signal(SIGINT)
            let left = await third.end
            #expect(left.cause == .exited(75) && left.errors.contains("june goes on in another process"), "\(left)")
            program.signal(SIGINT)
            gate.open()
            let end = await program.end
            #expect(end.cause == .exited(75) && end.errors.contains("go on with: pipeline resume june"), "\(end)")
            #expect(await second.end.cause == .exited(75))
        }
    }
}
