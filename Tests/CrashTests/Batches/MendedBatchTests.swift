import Foundation
import JSONPath
import PipelineTestKit
import Synchronization
import Testing

/// A batch of which items have failed, and what begins them again: a retry from a stage on, or a document that was mended.
@Suite("A batch that is mended")
struct MendedBatchTests {
    private static func document(path: String = "/${{ inputs.name }}", batch: String = "") -> String {
        """
        { "pipeline": 1, "name": "ask", "batch": { \(batch) "key": "${{ inputs.name }}" },
          "inputs": { "name": { "type": "string" }, "mode": { "type": "string", "default": "old" } },
          "services": { "api": { "url": "${{ env.API_URL }}" } },
          "stages": [ { "id": "w", "kind": "request", "service": "api", "request": { "GET": "\(path)" },
                        "to": "${{ inputs.name }}.txt" } ] }
        """
    }

    /// A service that has nothing but what is found there, and the paths that it was asked for.
    private final class Service: Sendable {
        private let asked = Mutex<[String]>([])
        private let found = Mutex<Set<String>>([])

        func answer(_ path: String) -> ScriptedAnswer {
            asked.withLock { $0.append(path) }
            return found.withLock { $0.contains(path) } ? .status(200, body: path) : .status(404)
        }

        func put(_ paths: String...) { found.withLock { $0.formUnion(paths) } }

        /// The paths since the last time.
        var paths: [String] {
            asked.withLock { paths in
                defer { paths = [] }
                return paths.sorted()
            }
        }
    }

    private struct Scene {
        let workplace: Workplace
        let service: Service
        let environment: [String: String]

        func run(_ more: String...) async throws -> ProgramEnd {
            try await workplace.program.run(
                ["run", "ask.json", "--each", "rows.csv", "--batch", "june", "--output", "out"] + more,
                environment: workplace.environment(environment), folder: workplace.folder)
        }

        func call(_ words: String...) async throws -> ProgramEnd {
            try await workplace.program.run(
                words, environment: workplace.environment(environment), folder: workplace.folder)
        }

        func text(_ name: String) -> String? {
            workplace.bytes(workplace.path(name)).map { String(decoding: $0, as: UTF8.self) }
        }
    }

    private func withScene(_ body: (Scene) async throws -> Void) async throws {
        try await withWorkplace { workplace in
            let service = Service()
            let server = try LoopbackServer { service.answer($0.path) }
            defer { server.stop() }
            try await body(Scene(workplace: workplace, service: service, environment: ["API_URL": server.url]))
        }
    }

    /// All were begun at once, beside the batch, and none had a row in the results.
    @Test("retry --from begins items within the batch's bounds, with a row of the results for each")
    func retriesFrom() async throws {
        try await withScene { scene in
            try scene.workplace.write("ask.json", Self.document(batch: #""stopAfter": 2, "atOnce": 1,"#))
            try scene.workplace.write("rows.csv", "name\na\nb\nc\n")
            let first = try await scene.run("--results", "results.jsonl")
            #expect(first.cause == .exited(75) && first.errors.contains("2 failed, 1 pending"), "\(first)")
            #expect(scene.service.paths == ["/a", "/b"])
            let wrong = try await scene.call("retry", "june", "--from", "nowhere")
            #expect(wrong.cause == .exited(64) && wrong.errors.contains("there is no stage 'nowhere'"), "\(wrong)")
            let again = try await scene.call("retry", "june", "--from", "w")
            #expect(again.cause == .exited(75) && again.errors.contains("2 failed, 1 pending"), "\(again)")
            #expect(scene.service.paths.count == 2, "not the third: two have failed alike")
            scene.service.put("/a", "/b", "/c")
            let last = try await scene.call("retry", "june", "--from", "w")
            #expect(last.cause == .exited(0) && last.errors.contains("june: 3/3 succeeded"), "\(last)")
            let rows = try (scene.text("results.jsonl") ?? "").split(separator: "\n")
                .map { try JSON.parse(Array($0.utf8))["state"]?.string }
            #expect(rows.count { $0 == "failed" } == 4 && rows.count { $0 == "succeeded" } == 3, "\(rows)")
        }
    }

    @Test("retry BATCH/ITEM --from is the batch's too")
    func retriesOne() async throws {
        try await withScene { scene in
            try scene.workplace.write("ask.json", Self.document())
            try scene.workplace.write("rows.csv", "name\na\nb\n")
            #expect(try await scene.run("--results", "results.jsonl").cause == .exited(1))
            scene.service.put("/a")
            let one = try await scene.call("retry", "june/a", "--from", "w")
            #expect(one.errors.contains("june: 1/2 succeeded, 1 failed"), "\(one)")
            #expect(scene.text("results.jsonl")?.contains(#"{"item":"a","state":"succeeded""#) == true)
        }
    }

    /// All that the batch had left began as well, also of one that a person had cancelled.
    @Test("retry of one item of a batch that stopped begins that one alone", arguments: [false, true])
    func retriesAlone(isCancelled: Bool) async throws {
        try await withScene { scene in
            try scene.workplace.write("ask.json", Self.document(batch: #""stopAfter": 2, "atOnce": 1,"#))
            try scene.workplace.write("rows.csv", "name\na\nb\nc\nd\n")
            #expect(try await scene.run().errors.contains("2 failed, 2 pending"))
            if isCancelled { _ = try await scene.call("cancel", "june") }
            #expect(scene.service.paths == ["/a", "/b"])
            scene.service.put("/a", "/b", "/c", "/d")
            // All of it that failed began again, and not a word was said of the number.
            let number = try await scene.call("retry", "june/a", "--item", "0")
            #expect(number.cause == .exited(64), "\(number)")
            #expect(number.errors.contains("leave --item out: pipeline retry june/a"), "\(number)")
            let one = try await scene.call("retry", "june/a")
            #expect(one.cause == .exited(0) && scene.service.paths == ["/a"], "\(one)")
            let two = try await scene.call("retry", "june", "--item", "b")
            #expect(two.cause == .exited(0) && scene.service.paths == ["/b"], "\(two)")
            let shown = try await scene.workplace.show("june")
            #expect(shown["counts"]?["succeeded"] == 2, "\(shown.text)")
            if isCancelled { return }
            #expect(shown["state"] == "suspended" && shown["counts"]?["pending"] == 2, "\(shown.text)")
            let rest = try await scene.call("resume", "june")
            #expect(rest.cause == .exited(0) && scene.service.paths == ["/c", "/d"], "\(rest)")
        }
    }

    /// Each was a turn of its own, in which the batch ran and ended.
    @Test("retry of several items of a batch is one turn of it, and says which it leaves alone")
    func retriesSeveral() async throws {
        try await withScene { scene in
            try scene.workplace.write("ask.json", Self.document())
            try scene.workplace.write("rows.csv", "name\na\nb\nc\n")
            #expect(try await scene.run().cause == .exited(1))
            scene.service.put("/a", "/b", "/c")
            let two = try await scene.call("retry", "june/a", "june/b")
            #expect(two.errors.contains("june: 2/3 succeeded, 1 failed"), "\(two)")
            #expect(!two.errors.contains("june: 1/3 succeeded"), "\(two)")
            let rest = try await scene.call("retry", "june/a", "june/c")
            #expect(rest.cause == .exited(0) && rest.errors.contains("june: 3/3 succeeded"), "\(rest)")
            #expect(rest.errors.contains("not begun again, for they have not failed: a"), "\(rest)")
            #expect(scene.service.paths == ["/a", "/a", "/b", "/b", "/c", "/c"])
            let none = try await scene.call("retry", "june/a", "june/b")
            #expect(none.cause == .exited(64) && none.errors.contains("none of the 2 items of 'june'"), "\(none)")
        }
    }

    /// Both were refused, or done outside of the batch without a row in its results.
    @Test("retry of an item that succeeded begins what was tolerated of it, and --from all, with a row of the results")
    func retriesTolerated() async throws {
        try await withScene { scene in
            let repeated = #""kind": "request", "forEach": "split('x,y', ',')", "tolerate": 1,"#
            try scene.workplace.write(
                "ask.json",
                Self.document(path: "/${{ inputs.name }}/${{ item }}")
                    .replacing(#""kind": "request","#, with: repeated)
                    .replacing("}}.txt", with: "}}-${{ item }}.txt"))
            try scene.workplace.write("rows.csv", "name\na\nb\n")
            scene.service.put("/a/x", "/b/y")
            let first = try await scene.run("--results", "results.jsonl")
            #expect(first.cause == .exited(0) && first.errors.contains("june: 2/2 succeeded"), "\(first)")
            #expect(scene.service.paths == ["/a/x", "/a/y", "/b/x", "/b/y"])
            scene.service.put("/a/y", "/b/x")
            let one = try await scene.call("retry", "june/a")
            #expect(one.cause == .exited(0) && scene.service.paths == ["/a/y"], "\(one)")
            let two = try await scene.call("retry", "june", "--item", "b")
            #expect(two.cause == .exited(0) && scene.service.paths == ["/b/x"], "\(two)")
            #expect(scene.text("out/a-y.txt") == "/a/y" && scene.text("out/b-x.txt") == "/b/x")
            let none = try await scene.call("retry", "june/a")
            #expect(none.cause == .exited(64) && none.errors.contains("no item 'a' of 'june' has failed"), "\(none)")
            let again = try await scene.call("retry", "june/a", "--from", "w", "--overwrite")
            #expect(again.cause == .exited(0) && scene.service.paths == ["/a/x", "/a/y"], "\(again)")
            let rows = try (scene.text("results.jsonl") ?? "").split(separator: "\n")
                .map { try JSON.parse(Array($0.utf8)) }
            #expect(rows.dropFirst(2).compactMap { $0["item"]?.string } == ["a", "b", "a"], "\(rows.map(\.text))")
            #expect(rows.last?["attempt"] == 3 && rows.allSatisfy { $0["state"] == "succeeded" })
        }
    }

    /// Failed items went on with the document that they began with, whatever the command said.
    @Test("with --changed and --retry-failed begins what failed by the new document and the new inputs")
    func mended() async throws {
        try await withScene { scene in
            scene.service.put("/b", "/new/a")
            try scene.workplace.write("ask.json", Self.document())
            try scene.workplace.write("rows.csv", "name\na\nb\n")
            #expect(try await scene.run().errors.contains("june: 1/2 succeeded, 1 failed"))
            try scene.workplace.write("ask.json", Self.document(path: "/${{ inputs.mode }}/${{ inputs.name }}"))
            let wrong = try await scene.run("--changed", "--retry-failed")
            #expect(wrong.errors.contains("june: 1/2 succeeded, 1 failed"), "\(wrong)")
            #expect(scene.service.paths == ["/a", "/b", "/old/a"])
            let right = try await scene.run("--changed", "--retry-failed", "-i", "mode=new")
            #expect(right.cause == .exited(0) && right.errors.contains("june: 2/2 succeeded"), "\(right)")
            #expect(scene.service.paths == ["/new/a"] && scene.text("out/a.txt") == "/new/a")
        }
    }

    /// It was begun again as it was, and paid for, and then said to be left alone.
    /// Each line named the other command, and both ran the document of before.
    @Test("says what begins what failed with the document that was mended")
    func namesTheWay() async throws {
        try await withScene { scene in
            try scene.workplace.write("ask.json", Self.document(path: "/wrong/${{ inputs.name }}"))
            try scene.workplace.write("rows.csv", "name\na\nb\n")
            scene.service.put("/a", "/b")
            let first = try await scene.run()
            let way = "once the document is mended, by the same 'pipeline run' with --changed --retry-failed"
            #expect(first.cause == .exited(1) && first.errors.contains(way), "\(first)")
            try scene.workplace.write("ask.json", Self.document())
            let changed = try await scene.run("--changed")
            let stays = "what has failed (2) stays so; with --retry-failed too it is begun again"
            #expect(changed.errors.contains(stays), "\(changed)")
            let retried = try await scene.call("retry", "june")
            #expect(retried.cause == .exited(0) && retried.errors.contains("june: 2/2 succeeded"), "\(retried)")
        }
    }

    private static let uploading = """
        { "pipeline": 1, "name": "film", "batch": { "key": "${{ inputs.name }}" },
          "inputs": { "name": { "type": "string" } }, "services": { "api": { "url": "${{ env.API_URL }}" } },
          "stages": [
            { "id": "upload", "kind": "upload", "service": "api", "file": "film.mov", "protocol": "put",
              "request": { "PUT": "/files/${{ inputs.name }}" } },
            { "id": "order", "kind": "request", "service": "api", "needs": ["upload"],
              "request": { "POST": "/orders/${{ inputs.name }}", "json": { "mode": "MODE" } } } ] }
        """

    /// All files went out a second time.
    @Test("sends nothing again that an item had done before the mistake", arguments: [true, false])
    func keepsWhatIsDone(isOneCommand: Bool) async throws {
        try await withWorkplace { workplace in
            let seen = Mutex<[String]>([])
            let server = try LoopbackServer { request in
                seen.withLock { $0.append("\(request.method) \(request.path)") }
                return request.method == "POST" && !request.text.contains("fast") ? .status(422) : .json("{}")
            }
            defer { server.stop() }
            let scene = Scene(workplace: workplace, service: Service(), environment: ["API_URL": server.url])
            try workplace.write("film.mov", "x")
            try workplace.write("rows.csv", "name\na\nb\n")
            try workplace.write("ask.json", Self.uploading)
            #expect(try await scene.run().cause == .exited(1))
            #expect(
                seen.withLock { $0.sorted() } == ["POST /orders/a", "POST /orders/b", "PUT /files/a", "PUT /files/b"])
            seen.withLock { $0 = [] }
            try workplace.write("ask.json", Self.uploading.replacing("MODE", with: "fast"))
            if !isOneCommand { _ = try await scene.run("--changed") }
            let end =
                isOneCommand
                ? try await scene.run("--changed", "--retry-failed") : try await scene.run("--retry-failed")
            #expect(end.cause == .exited(0), "\(end)")
            #expect(seen.withLock { $0.sorted() } == ["POST /orders/a", "POST /orders/b"])
            #expect(try await scene.call("show", "june/a").cause == .exited(0))
        }
    }

    /// They had waited for a place, and were ordered as the first document had it: up to 64 of them, each paid for.
    @Test(
        "with --changed gives the mended document to the items that have begun, too, where it fits what they have done")
    func givesToWaiting() async throws {
        try await withWorkplace { workplace in
            let server = try LoopbackServer { request in
                guard request.method == "POST" else { return .json(#"{"state": "done"}"#) }
                return request.text.contains("right") ? .json(#"{"id": "1"}"#) : .status(422)
            }
            func document(_ text: String) -> String {
                """
                { "pipeline": 1, "name": "ask", "inputs": { "name": { "type": "string" } }, "batch": { "stopAfter": 3 },
                  "services": { "s": { "url": "${{ env.API_URL }}", "limits": { "computations": 2 } } },
                  "stages": [ { "id": "w", "kind": "compute", "service": "s",
                    "submit": { "POST": "/jobs", "json": "\(text)", "capture": { "id": "$.id" } },
                    "poll": { "GET": "/jobs/${{ self.id }}", "every": "50ms", "status": "$.state", "succeeded": ["done"] }
                  } ] }
                """
            }
            defer { server.stop() }
            let scene = Scene(workplace: workplace, service: Service(), environment: ["API_URL": server.url])
            try workplace.write("rows.csv", "name\na\nb\nc\nd\ne\nf\ng\nh\n")
            try workplace.write("ask.json", document("wrong"))
            let stopped = try await scene.run()
            #expect(stopped.cause == .exited(75), "\(stopped)")
            let before = server.requests.count { $0.method == "POST" }
            #expect(before <= 4, "\(stopped)")
            try workplace.write("ask.json", document("right"))
            let end = try await scene.run("--changed", "--retry-failed")
            #expect(end.cause == .exited(0) && end.errors.contains("8/8 succeeded"), "\(end)")
            #expect(end.errors.contains(/note: \d items? (go|goes) on with the new document/), "\(end)")
            #expect(server.requests.count { $0.method == "POST" } == before + 8)
        }
    }

    @Test("with --retry-failed begins what failed as its row is, and nothing whose row was mended or is gone")
    func retriedRows() async throws {
        try await withScene { scene in
            scene.service.put("/c")
            let document = Self.document(path: "/${{ inputs.mode }}")
            try scene.workplace.write("ask.json", document)
            try scene.workplace.write("rows.csv", "name,mode\na,a\nb,b\nc,c\nd,d\n")
            #expect(try await scene.run().errors.contains("june: 1/4 succeeded, 3 failed"))
            scene.service.put("/a", "/b", "/d", "/mended")
            _ = scene.service.paths
            try scene.workplace.write("rows.csv", "name,mode\na,a\nb,mended\nc,c\n")
            let retried = try await scene.run("--retry-failed")
            #expect(scene.service.paths == ["/a"], "\(retried)")
            #expect(retried.errors.contains("note: b has other inputs than before and was left alone"), "\(retried)")
            #expect(retried.cause == .exited(1) && retried.errors.contains("2/4 succeeded"), "\(retried)")
            let both = try await scene.run("--retry-failed", "--changed")
            #expect(both.cause == .exited(0) && scene.service.paths == ["/mended"], "\(both)")
        }
    }

    /// Its old text was ordered, with a note that it had been left alone.
    @Test("begins no row as it was that was mended, or taken out, after an earlier command was stopped")
    func mendedBehindAStop() async throws {
        try await withScene { scene in
            try scene.workplace.write(
                "ask.json", Self.document(path: "/${{ inputs.mode }}", batch: #""stopAfter": 1, "atOnce": 1,"#))
            try scene.workplace.write("rows.csv", "name,mode\na,a\nb,b\nc,c\nd,d\n")
            #expect(try await scene.run().errors.contains("1 failed, 3 pending"))
            scene.service.put("/mended", "/c", "/a", "/d")
            #expect(scene.service.paths == ["/a"])
            // Stops once more at the first, which was to begin again, as the others are.
            try scene.workplace.write("rows.csv", "name,mode\na,a\nb,mended\nc,c\nx\n")
            let strict = try await scene.run("--retry-failed", "--strict")
            #expect(strict.cause == .exited(2) && scene.service.paths.isEmpty, "\(strict)")
            let shown = try await scene.call("show", "june")
            #expect(shown.output.contains("1 failed") || shown.output.contains("2 failed"), "\(shown)")
            try scene.workplace.write("rows.csv", "name,mode\na,mended\nb,mended\nc,c\n")
            let end = try await scene.run("--retry-failed")
            #expect(scene.service.paths == ["/c", "/mended"], "\(end)")
            #expect(end.errors.contains("note: a has other inputs than before and was left alone"), "\(end)")
            #expect(end.errors.contains("by the same command with --changed --retry-failed"), "\(end)")
            #expect(end.errors.contains("1 pending (before this reading)"), "\(end)")
            #expect(end.errors.contains("1 item is pending and begins no more"), "\(end)")
            #expect(end.cause == .exited(1))
            let changed = try await scene.run("--retry-failed", "--changed")
            #expect(changed.cause == .exited(0) && scene.service.paths == ["/mended"], "\(changed)")
        }
    }

    /// The same command went on ordering, and one cancelled item made all of a batch count as cancelled.
    @Test("that was cancelled begins nothing by the same command, and one item that was cancelled stays so")
    func cancelled() async throws {
        try await withScene { scene in
            try scene.workplace.write("ask.json", Self.document(batch: #""stopAfter": 1, "atOnce": 1,"#))
            try scene.workplace.write("rows.csv", "name\na\nb\nc\n")
            #expect(try await scene.run().errors.contains("1 failed, 2 pending"))
            #expect(try await scene.call("cancel", "june/c").cause == .exited(0))
            scene.service.put("/a", "/b", "/c")
            _ = scene.service.paths
            let retried = try await scene.call("retry", "june")
            #expect(scene.service.paths == ["/a", "/b"], "\(retried)")
            #expect(retried.errors.contains("pipeline retry june/ITEM"), "\(retried)")
            for words in [["run", "--retry-failed"], ["retry"]] {
                let end =
                    words[0] == "run" ? try await scene.run("--retry-failed") : try await scene.call("retry", "june")
                #expect(scene.service.paths.isEmpty, "\(end)")
            }
        }
        try await withScene { scene in
            try scene.workplace.write("ask.json", Self.document(batch: #""stopAfter": 1, "atOnce": 1,"#))
            try scene.workplace.write("rows.csv", "name\na\nb\n")
            #expect(try await scene.run().errors.contains("1 failed, 1 pending"))
            #expect(try await scene.call("cancel", "june").cause == .exited(0))
            scene.service.put("/a", "/b")
            _ = scene.service.paths
            let same = try await scene.run()
            #expect(same.cause == .exited(1) && same.errors.contains("june was cancelled"), "\(same)")
            #expect(scene.service.paths.isEmpty)
            let again = try await scene.run("--retry-failed")
            #expect(again.cause == .exited(0) && scene.service.paths == ["/a", "/b"], "\(again)")
        }
    }

    /// They were begun with null in the place of what the other document wants.
    @Test("with another document begins no row of before that none names any more")
    func lacking() async throws {
        try await withScene { scene in
            scene.service.put("/c")
            try scene.workplace.write("ask.json", Self.document(batch: #""stopAfter": 1, "atOnce": 1,"#))
            try scene.workplace.write("rows.csv", "name\na\nb\n")
            #expect(try await scene.run().errors.contains("1 failed, 1 pending"))
            let renamed = Self.document().replacing("inputs.name", with: "inputs.title")
                .replacing(#""name": {"#, with: #""title": {"#)
            try scene.workplace.write("ask.json", renamed)
            try scene.workplace.write("rows.csv", "title\nc\n")
            let second = try await scene.run("--changed")
            #expect(second.errors.contains("1 pending (before this reading)"), "\(second)")
            #expect(scene.service.paths == ["/a", "/c"], "nothing was asked for the other row")
            let why = try await scene.call("why", "june/b")
            #expect(why.output.contains("pending, and no row of the last reading names it"), "\(why)")
            #expect(why.output.contains("name it in a row again, and run the same command"), "\(why)")
        }
    }
}
