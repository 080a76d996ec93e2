import Foundation
import JSONPath
import PipelineTestKit
import Synchronization
import Testing

/// The first document for a service is rarely right, and the upload behind its mistake may have taken hours.
@Suite("A job whose document is mended")
struct MendedDocumentTests {
    /// Takes an upload, and computations whose body says a mode that it knows.
    private final class Service: Sendable {
        struct Counts {
            var uploads = 0
            var submits: [String] = []
            var polls = 0
        }
        let counts = Mutex(Counts())

        func answer(_ request: ReceivedRequest) -> ScriptedAnswer {
            counts.withLock { counts in
                switch (request.method, request.path) {
                case ("PUT", "/wrong"): return .status(415, body: "no such type")
                case ("PUT", _) where request.text.contains("broken"): return .status(422, body: "no film")
                case ("PUT", _):
                    counts.uploads += 1
                    return .json(#"{"id": "f1", "size": 1}"#)
                case ("POST", _):
                    counts.submits.append(request.text)
                    if !request.text.contains(#""mode":"fast""#) { return .status(422, body: "no such mode") }
                    let headers = [("Content-Type", "application/json"), ("Set-Cookie", "sid=1234567890")]
                    return .status(200, headers: headers, body: #"{"id": "j1"}"#)
                case ("GET", "/jobs/j1"):
                    counts.polls += 1
                    return .json(#"{"state": "done"}"#)
                case ("GET", "/gone/j1"): return .status(404)
                default: return .status(400, body: "no such path")
                }
            }
        }

        /// The numbers of uploads, submits and polls since the last time.
        var seen: [Int] {
            counts.withLock { counts in
                defer { counts = Counts() }
                return [counts.uploads, counts.submits.count, counts.polls]
            }
        }
    }

    private struct Scene {
        let workplace: Workplace
        let service: Service
        let url: String

        func call(_ words: String...) async throws -> ProgramEnd {
            try await workplace.program.run(
                words, environment: workplace.environment(["API_URL": url]), folder: workplace.folder)
        }
    }

    private static func document(
        mode: String = "fast", poll: String = "/jobs/${{ self.id }}", upload: String = #""id": "$.id""#,
        more: String = ""
    ) -> String {
        """
        { "pipeline": 1, "name": "film", "inputs": { "video": { "type": "file" } },
          "services": { "api": { "url": "${{ env.API_URL }}" } },
          "stages": [
            { "id": "upload", "kind": "upload", "service": "api", "file": "${{ inputs.video }}", "protocol": "put",
              "request": { "PUT": "/files" }, "capture": { \(upload) } },
            { "id": "model", "kind": "compute", "service": "api",
              "submit": { "POST": "/jobs", "json": { "file": "${{ stages.upload.id }}", "mode": "\(mode)" },
                          "capture": { "id": "$.id" } },
              "poll": { "GET": "\(poll)", "every": "20ms", "status": "$.state", "succeeded": ["done"] } },
            { "id": "note", "kind": "write", "to": "note.txt", "text": "${{ stages.model.id }}" }\(more) ] }
        """
    }

    private func withScene(of first: String, _ body: (Scene) async throws -> Void) async throws {
        try await withWorkplace { workplace in
            let service = Service()
            let server = try LoopbackServer { service.answer($0) }
            defer { server.stop() }
            try workplace.write("film.mov", "x")
            try workplace.write("film.json", first)
            try await body(Scene(workplace: workplace, service: service, url: server.url))
        }
    }

    /// The same once a job of the document has failed.
    private func withScene(_ first: String, _ body: (Scene) async throws -> Void) async throws {
        try await withScene(of: first) { scene in
            let end = try await scene.call("run", "film.json", "-i", "video=film.mov", "--key", "film")
            #expect(end.cause == .exited(1), "\(end)")
            #expect(end.errors.contains(/once the document is mended: pipeline retry \w+ --changed/), "\(end)")
            try await body(scene)
        }
    }

    @Test("sends what it had sent no second time: not the upload behind a refused submit")
    func refusedSubmit() async throws {
        try await withScene(Self.document(mode: "fats")) { scene in
            #expect(scene.service.seen == [1, 1, 0])
            let same = try await scene.call("retry", "film", "--changed")
            #expect(same.cause == .exited(1) && same.errors.contains("film.json is what this job has"), "\(same)")
            #expect(scene.service.seen == [0, 1, 0])
            try scene.workplace.write("film.json", Self.document())
            try FileManager.default.removeItem(atPath: scene.workplace.path("film.mov"))
            let resumed = try await scene.call("resume", "film")
            #expect(resumed.errors.contains("this job keeps the one of before"), "\(resumed)")
            #expect(scene.service.seen == [0, 1, 0])
            let mended = try await scene.call("retry", "film", "--changed")
            #expect(mended.cause == .exited(0) && !mended.errors.contains("keeps the one"), "\(mended)")
            #expect(scene.service.seen == [0, 1, 1])
            #expect(scene.workplace.bytes(scene.workplace.path("note.txt")) == Array("j1".utf8))
            let shown = try await scene.call("show", "film")
            #expect(!shown.output.contains("has changed"), "\(shown)")
            let none = try await scene.call("retry", "film", "--changed")
            #expect(none.cause == .exited(64) && none.errors.contains("has failed"), "\(none)")
        }
    }

    /// Its order was there, and its id stood in the response that was printed.
    @Test("takes the id of an accepted job out of the response that was kept, where it was looked for at a wrong place")
    func captureOfSubmit() async throws {
        let wrong = Self.document().replacing(#""$.id" } },\#n      "poll""#, with: ##""$.job" } }, "poll""##)
        try await withScene(of: wrong) { scene in
            let end = try await scene.call("run", "film.json", "-i", "video=film.mov", "--key", "film")
            #expect(end.cause == .exited(3) && end.errors.contains(#"{"id": "j1"}"#), "\(end)")
            #expect(
                end.errors.contains(/if that has what is captured, mend "capture", then: pipeline retry \w+ --changed/))
            let same = try await scene.call("retry", "film", "--changed")
            #expect(same.cause == .exited(3), "\(same)")
            // What stands in the record for a secret is no id.
            for other in ["$.jobs[0]", "header:Set-Cookie"] {
                try scene.workplace.write("film.json", wrong.replacing("$.job", with: other))
                let still = try await scene.call("retry", "film", "--changed")
                #expect(
                    still.cause == .exited(2) && still.errors.contains("does not have, or does not show"), "\(still)")
            }
            let mended = Self.document()
            for other in [mended.replacing("fast", with: "slow"), mended.replacing("/jobs\"", with: "/others\"")] {
                try scene.workplace.write("film.json", other)
                let end = try await scene.call("retry", "film", "--changed")
                #expect(end.cause == .exited(2) && end.errors.contains("says something else"), "\(end)")
            }
            #expect(scene.service.seen == [1, 1, 0])
            try scene.workplace.write("film.json", mended)
            let right = try await scene.call("retry", "film", "--changed")
            #expect(right.cause == .exited(0) && right.errors.contains("was kept, and has id = j1"), "\(right)")
            #expect(scene.service.seen == [0, 0, 1])
            #expect(scene.workplace.bytes(scene.workplace.path("note.txt")) == Array("j1".utf8))
        }
    }

    /// They stayed unknown, and each had to be resolved by hand.
    @Test("takes the ids of a batch's items out of the responses that were kept, and orders nothing again")
    func captureOfItems() async throws {
        let wrong = Self.document().replacing(#""$.id" } },\#n      "poll""#, with: ##""$.job" } }, "poll""##)
            .replacing("note.txt", with: "${{ stem(inputs.video) }}.txt")
        try await withScene(of: wrong) { scene in
            try scene.workplace.write("b.mov", "y")
            let batch = ["run", "film.json", "--each", "video=*.mov", "--batch", "june"]
            func run(_ more: String...) async throws -> ProgramEnd {
                try await scene.workplace.program.run(
                    batch + more, environment: scene.workplace.environment(["API_URL": scene.url]),
                    folder: scene.workplace.folder)
            }
            let end = try await run()
            #expect(end.cause == .exited(3) && end.errors.contains("2 unknown"), "\(end)")
            #expect(end.errors.contains(/mend "capture", then 'pipeline run .*' again, with --changed/), "\(end)")
            #expect(scene.service.seen == [2, 2, 0])
            try scene.workplace.write("film.json", wrong.replacing("$.job", with: "$.id"))
            let right = try await run("--changed")
            #expect(right.cause == .exited(0), "\(right)")
            #expect(right.errors.contains("2 items were unknown and now go on"), "\(right)")
            #expect(!right.errors.contains("they were begun with"), "\(right)")
            #expect(scene.service.seen == [0, 0, 2])
            #expect(scene.workplace.bytes(scene.workplace.path("b.txt")) == Array("j1".utf8))
        }
    }

    /// It had the id of the first order, and the second was forgotten.
    @Test("takes no id out of the response to an earlier submit")
    func earlierResponse() async throws {
        let wrong = Self.document().replacing(#""$.id" } },\#n      "poll""#, with: ##""$.job" } }, "poll""##)
        try await withScene(of: wrong) { scene in
            let end = try await scene.call("run", "film.json", "-i", "video=film.mov", "--key", "film")
            #expect(end.cause == .exited(3), "\(end)")
            let resolved = try await scene.call("resolve", "film", "--resubmit")
            #expect(resolved.cause == .exited(0), "\(resolved)")
            let workplace = scene.workplace
            let killed = try await workplace.program.run(
                ["resume", "film"],
                environment: workplace.environment(["API_URL": scene.url, "PIPELINE_CRASH_AT": "submit.sent"]),
                folder: workplace.folder)
            #expect(killed.cause == .killed(SIGKILL), "\(killed)")
            let lost = try await scene.call("resume", "film")
            #expect(lost.cause == .exited(3) && !lost.errors.contains("if that has what is captured"), "\(lost)")
            try scene.workplace.write("film.json", Self.document())
            let mended = try await scene.call("retry", "film", "--changed")
            #expect(mended.cause == .exited(3), "\(mended)")
        }
    }

    /// What was refused is nowhere, so that nothing can be what it was not.
    @Test("sends a file that was refused as the document, or the file, says by then")
    func refusedUpload() async throws {
        let wrong = Self.document().replacing(#""PUT": "/files""#, with: #""PUT": "/wrong""#)
        try await withScene(wrong) { scene in
            try scene.workplace.write("film.json", Self.document())
            let mended = try await scene.call("retry", "film", "--changed")
            #expect(mended.cause == .exited(0), "\(mended)")
            #expect(scene.service.seen == [1, 1, 1])
        }
        try await withScene(of: Self.document()) { scene in
            try scene.workplace.write("film.mov", "broken")
            let end = try await scene.call("run", "film.json", "-i", "video=film.mov", "--key", "film")
            #expect(end.cause == .exited(1) && end.errors.contains("422"), "\(end)")
            try scene.workplace.write("film.mov", "the film, whole")
            let again = try await scene.call("resume", "film")
            #expect(again.cause == .exited(0), "\(again)")
            #expect(scene.service.seen == [1, 1, 1])
        }
    }

    @Test("goes on with a remote job that was accepted, where only the poll was wrong")
    func wrongPoll() async throws {
        try await withScene(Self.document(poll: "/job/${{ self.id }}")) { scene in
            #expect(scene.service.seen == [1, 1, 0])
            try scene.workplace.write("film.json", Self.document())
            let mended = try await scene.call("retry", "film", "--changed")
            #expect(mended.cause == .exited(0), "\(mended)")
            #expect(scene.service.seen == [0, 0, 1])
        }
    }

    /// The remote job is done and paid by then; it was refused.
    @Test("goes on with a remote job that has ended, where only what is taken out of its response was wrong")
    func wrongCapture() async throws {
        let poll = #""succeeded": ["done"] }"#
        let right = Self.document().replacing(poll, with: poll + #", "capture": CAPTURE"#)
        try await withScene(of: right.replacing("CAPTURE", with: #"{ "link": "$.link" }"#)) { scene in
            let first = try await scene.call("run", "film.json", "-i", "video=film.mov", "--key", "film")
            #expect(first.cause == .exited(1), "\(first)")
            #expect(scene.service.seen == [1, 1, 1])
            try scene.workplace.write("film.json", right.replacing("CAPTURE", with: #"{ "link": "$.state" }"#))
            let mended = try await scene.call("retry", "film", "--changed")
            #expect(mended.cause == .exited(0), "\(mended)")
            #expect(scene.service.seen == [0, 0, 1])
        }
    }

    @Test("sends no part of an upload again of which only the request that ends it was wrong")
    func wrongEnd() async throws {
        try await withWorkplace { workplace in
            let paths = Mutex<[String]>([])
            let server = try LoopbackServer { request in
                paths.withLock { $0.append("\(request.method) \(request.path)") }
                switch request.path {
                case "/new": return .json(#"{"id": "u1"}"#)
                case "/u1/1", "/u1/2", "/u1/3": return .json(#"{"tag": "t"}"#)
                default:
                    return request.text.contains(#"{"number":3,"tag":"t"}"#)
                        ? .json(#"{"file": "f1"}"#) : .status(400, body: "InvalidPart")
                }
            }
            defer { server.stop() }
            var seen: [String] {
                paths.withLock { paths in
                    defer { paths = [] }; return paths
                }
            }
            let document = """
                { "pipeline": 1, "name": "parts", "services": { "api": { "url": "${{ env.API_URL }}" } },
                  "stages": [ { "id": "move", "kind": "upload", "service": "api", "file": "film.mov", "protocol": "parts",
                    "partSize": "1KB", "request": { "POST": "/new", "capture": { "id": "$.id" } },
                    "part": { "PUT": "/${{ self.id }}/${{ part.number }}", "part": true, "capture": { "tag": "$.tag" },
                              "keep": { "row": { "number": "${{ part.number }}", "tag": "${{ self.tag }}" } } },
                    "complete": { "POST": "/end", "json": { "parts": "${{ self.parts.tag }}" } },
                    "capture": { "file": "$.file" } } ] }
                """
            try workplace.write("film.mov", String(repeating: "x", count: 2500))
            try workplace.write("parts.json", document)
            func call(_ words: String...) async throws -> ProgramEnd {
                try await workplace.program.run(
                    words, environment: workplace.environment(["API_URL": server.url]), folder: workplace.folder)
            }
            let end = try await call("run", "parts.json")
            #expect(end.cause == .exited(1), "\(end)")
            #expect(seen.count == 5)
            try workplace.write("parts.json", document.replacing("self.parts.tag", with: "self.parts.row"))
            let mended = try await call("retry", "last", "--changed")
            #expect(mended.cause == .exited(0), "\(mended)")
            #expect(seen == ["POST /end"])
        }
    }

    /// It went on where the first numbering had come to, and pages were missing without a word.
    @Test("gets pages again that were told apart in another way, from the first on")
    func otherPages() async throws {
        try await withWorkplace { workplace in
            let state = Mutex<(asked: [String], isStrict: Bool)>(([], true))
            let server = try LoopbackServer { request in
                let page = request.target.split(separator: "=").last.map(String.init) ?? ""
                let isStrict = state.withLock { state in
                    state.asked.append(page)
                    return state.isStrict
                }
                switch page {
                case "0": return .json(#"{"data": [1, 2]}"#)
                case "1": return .json(#"{"data": [3, 4]}"#)
                default: return isStrict ? .status(404) : .json(#"{"data": []}"#)
                }
            }
            defer { server.stop() }
            let document = """
                { "pipeline": 1, "name": "list", "services": { "api": { "url": "\(server.url)" } },
                  "stages": [ { "id": "all", "kind": "request", "service": "api", "request": { "GET": "/items" },
                    "to": "all.jsonl", "paginate": { "items": "$.data[*]", "next": { "page": "page" } } } ] }
                """
            try workplace.write("list.json", document)
            func call(_ words: String...) async throws -> ProgramEnd {
                try await workplace.program.run(
                    words, environment: workplace.environment([:]), folder: workplace.folder)
            }
            let end = try await call("run", "list.json")
            #expect(end.cause == .exited(1), "\(end)")
            state.withLock { $0.isStrict = false }
            try workplace.write(
                "list.json", document.replacing(#""page": "page""#, with: #""page": "page", "first": 0"#))
            let mended = try await call("retry", "last", "--changed")
            #expect(mended.cause == .exited(0), "\(mended)")
            #expect(mended.errors.contains(#""paginate" is another one since the first page came"#), "\(mended)")
            #expect(state.withLock(\.asked) == ["1", "2", "0", "1", "2"])
            #expect(workplace.bytes(workplace.path("all.jsonl")) == Array("1\n2\n3\n4\n".utf8))
        }
    }

    @Test("is refused where it would have what was done be something else, and says which stage to begin from")
    func otherwise() async throws {
        try await withScene(Self.document(poll: "/job/${{ self.id }}")) { scene in
            #expect(scene.service.seen == [1, 1, 0])
            try scene.workplace.write("film.json", Self.document(mode: "slow"))
            let submitted = try await scene.call("retry", "film", "--changed")
            #expect(submitted.cause == .exited(2), "\(submitted)")
            #expect(submitted.errors.contains("stage 'model' has begun, and says something else"), "\(submitted)")
            #expect(submitted.errors.contains(/pipeline retry \w+ --changed --from model/), "\(submitted)")
            for other in [
                Self.document().replacing("${{ env.API_URL }}", with: "http://127.0.0.1:1"),
                Self.document().replacing(#""name": "film","#, with: #""name": "film", "with": [ { "gzip": {} } ],"#),
            ] {
                try scene.workplace.write("film.json", other)
                let end = try await scene.call("retry", "film", "--changed")
                #expect(end.cause == .exited(2) && end.errors.contains("its service, or"), "\(end)")
            }
            try scene.workplace.write("film.json", Self.document(upload: #""id": "$.id", "size": "$.size""#))
            let uploaded = try await scene.call("retry", "film", "--changed")
            #expect(uploaded.errors.contains("stage 'upload' has succeeded, and says something else"), "\(uploaded)")
            try scene.workplace.write(
                "film.json", Self.document(more: #", { "id": "more", "kind": "write", "to": "x", "text": "x" }"#))
            let more = try await scene.call("retry", "film", "--changed")
            #expect(more.errors.contains("has a stage 'more' that this job does not have"), "\(more)")
            try scene.workplace.write("film.json", "{ \"pipeline\": 1, ")
            let broken = try await scene.call("retry", "film", "--changed")
            #expect(broken.cause == .exited(2) && broken.errors.contains("film.json:1"), "\(broken)")
            #expect(scene.service.seen == [0, 0, 0], "nothing was sent")
            try scene.workplace.write("film.json", Self.document(upload: #""id": "$.id", "size": "$.size""#))
            let again = try await scene.call("retry", "film", "--changed", "--from", "upload")
            #expect(again.cause == .exited(0), "\(again)")
            #expect(scene.service.seen == [1, 1, 1])
        }
    }

    /// The commonest mistake of a first poll: a path that nobody has. The order that was paid for could be reached no more.
    @Test("asks for the remote job again where the poll is mended that said it were gone, or had failed")
    func goneByMistake() async throws {
        let right = Self.document().replacing(#""20ms""#, with: #""20ms", "settle": "1ms""#)
        let states = #""status": "$.state", "failed": ["done"], "succeeded": ["ok"]"#
        let wrong = [
            right.replacing("/jobs/${{", with: "/gone/${{"),
            right.replacing(#""status": "$.state", "succeeded": ["done"]"#, with: states),
        ]
        for document in wrong {
            try await withScene(of: document) { scene in
                let first = try await scene.call("run", "film.json", "-i", "video=film.mov", "--key", "film")
                #expect(first.cause == .exited(1), "\(first)")
                _ = scene.service.seen
                try scene.workplace.write("film.json", document.replacing(#""20ms""#, with: #""30ms""#))
                let still = try await scene.call("retry", "film", "--changed")
                #expect(still.cause == .exited(1) && still.errors.contains("asks for its remote job again"), "\(still)")
                try scene.workplace.write("film.json", right.replacing("fast", with: "slow"))
                let refused = try await scene.call("retry", "film", "--changed")
                #expect(refused.cause == .exited(2), "\(refused)")
                #expect(refused.errors.contains("would be submitted again"), "\(refused)")
                try scene.workplace.write("film.json", right)
                let end = try await scene.call("retry", "film", "--changed")
                #expect(end.cause == .exited(0), "\(end)")
                #expect(scene.service.seen[..<2] == [0, 0])
                #expect(scene.workplace.bytes(scene.workplace.path("note.txt")) == Array("j1".utf8))
            }
        }
    }

    @Test("is refused while a submit may be at the service, and the job keeps its document")
    func lostSubmit() async throws {
        let once = #""capture": { "id": "$.id" }, "once": { "key": "Idempotency-Key" } },"#
        let document = Self.document().replacing(#""capture": { "id": "$.id" } },"#, with: once)
        try await withScene(of: document) { scene in
            let workplace = scene.workplace
            let killed = try await workplace.program.run(
                ["run", "film.json", "-i", "video=film.mov"],
                environment: workplace.environment(["API_URL": scene.url, "PIPELINE_CRASH_AT": "submit.answered:2"]),
                folder: workplace.folder)
            #expect(killed.cause == .killed(SIGKILL), "\(killed)")
            for other in [
                document.replacing("${{ env.API_URL }}", with: "http://127.0.0.1:1"),
                document.replacing(#""submit": {"#, with: #""with": [ { "query": { "project": "b" } } ], "submit": {"#),
                document.replacing(#""submit": { "POST""#, with: #""retry": { "attempts": 2 }, "submit": { "POST""#),
            ] {
                try workplace.write("film.json", other)
                let end = try await scene.call("retry", "last", "--changed")
                #expect(end.cause == .exited(2) && end.errors.contains("has a submit of which nobody knows"), "\(end)")
            }
            let end = try await scene.call("resume", "last")
            #expect(end.cause == .exited(0), "\(end)")
        }
    }

    @Test("is taken by all of the jobs that are named, or by none")
    func several() async throws {
        try await withScene(Self.document(mode: "fats")) { scene in
            try scene.workplace.write("other.json", Self.document(poll: "/job/${{ self.id }}"))
            let other = try await scene.call("run", "other.json", "-i", "video=film.mov", "--key", "other")
            #expect(other.cause == .exited(1))
            try scene.workplace.write("film.json", Self.document())
            try scene.workplace.write("other.json", Self.document(mode: "slow"))
            _ = scene.service.seen
            let both = try await scene.call("retry", "film", "other", "--changed")
            #expect(both.cause == .exited(2) && scene.service.seen == [0, 0, 0], "\(both)")
            #expect(try await scene.call("show", "film").output.contains("has changed"))
            #expect(try await scene.call("retry", "film", "--changed").cause == .exited(0))
        }
    }

    @Test("takes new inputs with their defaults, and new variables as they are")
    func newInputs() async throws {
        try await withScene(Self.document(mode: "fats")) { scene in
            let mended = Self.document(mode: "${{ inputs.mode }}")
                .replacing(
                    #""type": "file" }"#, with: #""type": "file" }, "mode": { "type": "string", "default": "fast" }"#
                )
                .replacing(#""text": "${{ stages.model.id }}""#, with: #""text": "${{ env.WORD ?? 'none' }}""#)
            try scene.workplace.write("film.json", mended)
            let end = try await scene.workplace.program.run(
                ["retry", "film", "--changed"],
                environment: scene.workplace.environment(["API_URL": "http://127.0.0.1:1", "WORD": "new"]),
                folder: scene.workplace.folder)
            #expect(end.cause == .exited(0), "the address is that of its start: \(end)")
            #expect(scene.workplace.bytes(scene.workplace.path("note.txt")) == Array("new".utf8))
            let lacking = mended.replacing(#", "default": "fast""#, with: "")
            try scene.workplace.write("film.json", lacking.replacing("\"mode\": {", with: "\"word\": {"))
            let missing = try await scene.call("retry", "film", "--changed", "--from", "note")
            #expect(missing.cause == .exited(2), "\(missing)")
        }
    }

    @Test("is told to begin again as a whole where it is an item of a batch")
    func items() async throws {
        try await withScene(Self.document(mode: "fats")) { scene in
            let batch = try await scene.call("run", "film.json", "--each", "video=*.mov", "--batch", "june")
            #expect(batch.cause == .exited(1), "\(batch)")
            for name in ["june", "june/film.mov"] {
                let end = try await scene.call("retry", name, "--changed")
                #expect(end.cause == .exited(64) && end.errors.contains("again, with --changed"), "\(end)")
            }
        }
    }
}
