import Foundation
import JSONPath
import PipelineTestKit
import Synchronization
import Testing

/// A stage that its document had wrong goes on as it says by then, and no remote job is ordered for that.
@Suite("A stage that is mended")
struct MendedStageTests {
    private func withService(
        _ stage: String, _ answer: @escaping @Sendable (ReceivedRequest) -> ScriptedAnswer,
        _ body: (Workplace, LoopbackServer, (String...) async throws -> ProgramEnd) async throws -> Void
    ) async throws {
        try await withWorkplace { workplace in
            let server = try LoopbackServer(answer)
            defer { server.stop() }
            try workplace.write("film.mov", "the film")
            try workplace.write("job.json", Self.document(stage))
            try await body(workplace, server) { (words: String...) in
                try await workplace.program.run(
                    words, environment: workplace.environment(["API_URL": server.url]), folder: workplace.folder)
            }
        }
    }

    private static func document(_ stage: String) -> String {
        """
        { "pipeline": 1, "name": "job", "services": { "api": { "url": "${{ env.API_URL }}" } },
          "stages": [ { "id": "work", "service": "api", \(stage) } ] }
        """
    }

    /// It had succeeded, "and says something else by now": only another order would have given its result free.
    @Test("which has succeeded is read once its \"expires\" is a time, and is not ordered again")
    func expiry() async throws {
        func document(_ expires: String) -> String {
            """
            { "pipeline": 1, "name": "job", "services": { "api": { "url": "${{ env.API_URL }}" } },
              "stages": [
                { "id": "work", "kind": "compute", "service": "api", "expires": \(expires),
                  "submit": { "POST": "/jobs", "json": {}, "capture": { "id": "$.id" } },
                  "poll": { "GET": "/jobs/${{ self.id }}", "status": "$.state", "succeeded": ["done"],
                            "capture": { "good": "$.good" } } },
                { "id": "next", "kind": "request", "service": "api",
                  "request": { "GET": "/next/${{ stages.work.id }}" } } ] }
            """
        }
        try await withService("") { _ in
            .json(#"{"id": "j", "state": "done", "good": "tomorrow"}"#)
        } _: {
            workplace, server, call in
            try workplace.write("job.json", document(#"{ "at": "${{ self.good }}" }"#))
            let end = try await call("run", "job.json", "--key", "job")
            #expect(end.cause == .exited(1) && end.errors.contains("\"tomorrow\""), "\(end)")
            try workplace.write("job.json", document(#"{ "in": "1d" }"#))
            let mended = try await call("retry", "job", "--changed")
            #expect(mended.cause == .exited(0), "\(mended)")
            #expect(server.requests.count { $0.method == "POST" } == 1)
        }
    }

    /// The hint of its retry named `cancel`, which said that the job had ended: the parts stayed, and cost money.
    @Test("is removed at the service by a cancellation once its upload has failed, and is nothing more to cancel then")
    func removed() async throws {
        let stage = """
            "kind": "upload", "file": "film.mov", "protocol": "s3", "partSize": "5MiB", "request": { "PUT": "/bucket/film" }
            """
        let xml = [("Content-Type", "application/xml")]
        let isRefused = Mutex(false)
        try await withService(stage) { request in
            switch request.method {
            case "PUT": .status(403, headers: xml, body: "<Error><Code>AccessDenied</Code></Error>")
            case "DELETE"
            where isRefused.withLock({ refused in
                defer { refused = true }
                return !refused
            }):
                .status(403, headers: xml, body: "<Error/>")
            case "POST":
                .status(
                    200, headers: xml,
                    body: "<InitiateMultipartUploadResult><UploadId>u1</UploadId></InitiateMultipartUploadResult>")
            default: .status(204)
            }
        } _: { workplace, server, call in
            try workplace.write("film.mov", String(repeating: "x", count: 6 << 20))
            #expect(try await call("run", "job.json", "--key", "job").cause == .exited(1))
            func removals() -> Int {
                server.requests.count { $0.method == "DELETE" && $0.target.contains("uploadId=u1") }
            }
            #expect(removals() == 0)
            let refused = try await call("cancel", "job")
            #expect(refused.cause == .exited(1) && refused.errors.contains("could not be removed"), "\(refused)")
            let cancelled = try await call("cancel", "job")
            #expect(cancelled.cause == .exited(0) && cancelled.errors.contains("is removed"), "\(cancelled)")
            #expect(removals() == 2)
            #expect(try await workplace.show("job")["state"] == "failed")
            let again = try await call("cancel", "job")
            #expect(again.cause == .exited(0) && again.errors.contains("has ended already"), "\(again)")
            #expect(removals() == 2)
            // It begins as if it had never run.
            #expect(try await call("retry", "job", "--from", "work").cause == .exited(1))
            #expect(server.requests.count { $0.method == "POST" } == 2)
        }
    }

    /// It was refused: the upload had begun, although its first request was answered with 404.
    @Test("sends a file to another bucket than the one that there is not")
    func bucket() async throws {
        func stage(_ path: String) -> String {
            #""kind": "upload", "file": "film.mov", "protocol": "s3", "request": { "PUT": "\#(path)" }"#
        }
        let xml = [("Content-Type", "application/xml")]
        try await withService(stage("/wrong/film")) { request in
            let name = "<Bucket>right</Bucket><Key>film</Key>"
            switch (request.method, request.target) {
            case (_, let target) where target.hasPrefix("/wrong"):
                return .status(404, headers: xml, body: "<Error><Code>NoSuchBucket</Code></Error>")
            case ("PUT", _): return .status(200, headers: [("ETag", "\"a\"")], body: "")
            case ("POST", let target) where target.contains("uploads"):
                return .status(
                    200, headers: xml,
                    body: "<InitiateMultipartUploadResult>\(name)<UploadId>u</UploadId></InitiateMultipartUploadResult>"
                )
            default:
                return .status(
                    200, headers: xml,
                    body: "<CompleteMultipartUploadResult>\(name)<ETag>\"b\"</ETag></CompleteMultipartUploadResult>")
            }
        } _: { workplace, server, call in
            let end = try await call("run", "job.json", "--key", "job")
            #expect(end.cause == .exited(1) && end.errors.contains(" --changed\n"), "\(end)")
            try workplace.write("job.json", Self.document(stage("/right/film")))
            let mended = try await call("retry", "job", "--changed")
            #expect(mended.cause == .exited(0), "\(mended)")
            #expect(server.requests.count { $0.method == "PUT" && $0.path == "/right/film" } == 1)
        }
    }

    /// The parts stayed at the service, and are paid for there; not a word was said of them.
    @Test("begins an upload again with a word about what is there of the last")
    func leftParts() async throws {
        let stage = #"""
            "kind": "upload", "file": "film.mov", "protocol": "s3", "partSize": "5MiB", "request": { "PUT": "/bucket/film" }
            """#
        let creation = "<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>"
        try await withService(stage) { request in
            let isCreation = request.method == "POST" && request.target.contains("uploads")
            return isCreation
                ? .status(200, headers: [("Content-Type", "application/xml")], body: creation)
                : .status(
                    403, headers: [("Content-Type", "application/xml")],
                    body: "<Error><Code>AccessDenied</Code></Error>")
        } _: { workplace, server, call in
            try workplace.write("film.mov", String(repeating: "film", count: 2 << 20))
            #expect(try await call("run", "job.json", "--key", "job").cause == .exited(1))
            let again = try await call("retry", "job", "--from", "work")
            #expect(again.cause == .exited(1) && server.requests.count { $0.target.contains("uploads") } == 2)
            let warning = "its service was not told that the stage begins again: what was sent to it stays there"
            #expect(again.errors.contains(warning), "\(again)")
        }
    }

    /// It stayed at the service, and each resume made another.
    @Test("removes an upload that it can't cut into parts", arguments: ["0", "null", "-5"])
    func uncut(size: String) async throws {
        let stage = #"""
            "kind": "upload", "file": "film.mov", "protocol": "parts", "partSize": "${{ self.size }}",
            "request": { "POST": "/new", "capture": { "size": "$.chunk" } },
            "part": { "PUT": "/part/${{ part.number }}", "part": true }, "cancel": { "DELETE": "/new" }
            """#
        try await withService(stage) { request in
            request.method == "POST" ? .json(#"{"chunk": \#(size)}"#) : .status(204, body: "")
        } _: { _, server, call in
            let ends = [try await call("run", "job.json", "--key", "job"), try await call("resume", "job")]
            #expect(ends.allSatisfy { $0.cause == .exited(1) }, "\(ends)")
            #expect(server.requests.map(\.method) == ["POST", "DELETE", "POST", "DELETE"])
        }
    }

    /// It was refused, and "it is not there" was all that was left to say of an order that had been found.
    @Test("looks again for a submit whose response is lost, with the look-up and the captures as they are by then")
    func lookUp() async throws {
        func stage(_ list: String, _ id: String, body: String = "{}") -> String {
            """
            "kind": "compute", "submit": { "POST": "/jobs", "json": \(body), "capture": { "id": "\(id)" },
              "once": { "settle": "100ms",
                        "match": { "list": { "GET": "\(list)" }, "items": "$.jobs", "where": "true" } } },
            "poll": { "GET": "/jobs/${{ self.id }}", "every": "50ms", "status": "$.state", "succeeded": ["done"] }
            """
        }
        try await withService(stage("/wrong", "$.id")) { request in
            switch (request.method, request.path) {
            case ("POST", _): .reset(afterRequestBytes: 2)
            case (_, "/list"): .json(#"{"jobs": [{"job": "j1"}]}"#)
            case (_, "/jobs/j1"): .json(#"{"state": "done"}"#)
            default: .status(404)
            }
        } _: { workplace, server, call in
            func mend(_ list: String, _ id: String, body: String = "{}") async throws -> ProgramEnd {
                try workplace.write("job.json", Self.document(stage(list, id, body: body)))
                return try await call("retry", "job", "--changed")
            }
            let end = try await call("run", "job.json", "--key", "job")
            #expect(end.cause == .exited(3) && end.errors.contains("the look-up failed"), "\(end)")
            #expect(end.errors.contains(/it is looked for again by: pipeline retry \w+ --changed/), "\(end)")
            let other = try await mend("/list", "$.job", body: #"{"fast": true}"#)
            #expect(other.cause == .exited(2), "\(other)")
            let found = try await mend("/list", "$.id")
            #expect(found.cause == .exited(3) && found.errors.contains("it was found, but not what"), "\(found)")
            let right = try await mend("/list", "$.job")
            #expect(right.cause == .exited(0) && right.errors.contains("is looked for again"), "\(right)")
            #expect(server.requests.count { $0.method == "POST" } == 1)
        }
    }

    /// It was ordered again, and the response that had the id was not read.
    @Test("reads the response that accepted a submit, though a list that lags was looked at after it")
    func acceptedAndNotListed() async throws {
        func stage(_ id: String) -> String {
            """
            "kind": "compute", "submit": { "POST": "/jobs", "json": {}, "capture": { "id": "\(id)" },
              "once": { "name": { "GET": "/names/n" }, "ours": "true", "settle": "50ms" } },
            "poll": { "GET": "/jobs/${{ self.id }}", "every": "50ms", "status": "$.state", "succeeded": ["done"] }
            """
        }
        try await withService(stage("$.id")) { request in
            switch (request.method, request.path) {
            case ("POST", _): .json(#"{"job": "j1"}"#)
            case (_, "/jobs/j1"): .json(#"{"state": "done"}"#)
            default: .status(404)
            }
        } _: { workplace, server, call in
            let end = try await call("run", "job.json", "--key", "job")
            #expect(end.cause == .exited(3) && end.errors.contains("nothing of it was found"), "\(end)")
            #expect(end.errors.contains(#"200 {"job": "j1"}"#), "\(end)")
            try workplace.write("job.json", Self.document(stage("$.job")))
            let right = try await call("retry", "job", "--changed")
            #expect(right.cause == .exited(0) && right.errors.contains("was kept, and has id = j1"), "\(right)")
            #expect(server.requests.count { $0.method == "POST" } == 1)
        }
    }

    /// Each retry sent it once more before it looked: four orders of one.
    @Test(
        "sends no submit again whose response is lost and which its look-up takes for another's, until that is mended")
    func ours() async throws {
        func stage(_ owner: String) -> String {
            """
            "kind": "compute", "submit": { "POST": "/jobs", "json": {}, "capture": { "id": "$.id" },
              "once": { "name": { "GET": "/names/n" }, "ours": "response.body.owner == '\(owner)'" } },
            "poll": { "GET": "/jobs/${{ self.id }}", "every": "50ms", "status": "$.state", "succeeded": ["done"] }
            """
        }
        try await withService(stage("you")) { request in
            switch (request.method, request.path) {
            case ("POST", _): .reset(afterRequestBytes: 2)
            case (_, "/names/n"): .json(#"{"id": "j1", "owner": "me"}"#)
            default: .json(#"{"state": "done"}"#)
            }
        } _: { workplace, server, call in
            let end = try await call("run", "job.json", "--key", "job")
            #expect(end.cause == .exited(1) && end.errors.contains("the name is taken"), "\(end)")
            #expect(end.errors.contains("if it is ours, mend 'ours'"), "\(end)")
            for command in ["retry", "resume"] {
                let again = try await call(command, "job")
                #expect(again.cause == .exited(1) && again.errors.contains("the name is taken"), "\(again)")
            }
            try workplace.write("job.json", Self.document(stage("me")))
            let right = try await call("retry", "job", "--changed")
            #expect(right.cause == .exited(0), "\(right)")
            #expect(server.requests.count { $0.method == "POST" } == 1)
        }
    }

    @Test("looks again for the submits of a batch's items, by the same command, and orders none of them again")
    func lookUps() async throws {
        func document(_ id: String) -> String {
            """
            { "pipeline": 1, "name": "job", "inputs": { "file": { "type": "string" } },
              "services": { "api": { "url": "${{ env.API_URL }}" } },
              "stages": [ { "id": "work", "service": "api", "kind": "compute",
                "submit": { "POST": "/jobs", "json": "${{ inputs.file }}", "capture": { "id": "\(id)" },
                  "once": { "name": { "GET": "/names/${{ inputs.file }}" }, "ours": "true", "settle": "100ms" } },
                "poll": { "GET": "/jobs/${{ self.id }}", "every": "50ms", "status": "$.state", "succeeded": ["done"] }
              } ] }
            """
        }
        try await withService("") { request in
            if request.method == "POST" { return .reset(afterRequestBytes: 2) }
            if request.path.hasPrefix("/names/") {
                return .json(#"{"job": "\#(request.path.replacing("/names/", with: ""))"}"#)
            }
            return ["/jobs/a", "/jobs/b"].contains(request.path) ? .json(#"{"state": "done"}"#) : .status(404)
        } _: { workplace, server, call in
            try workplace.write("rows.csv", "file\na\nb\n")
            try workplace.write("job.json", document("$.id"))
            let end = try await call("run", "job.json", "--each", "rows.csv", "--batch", "june")
            #expect(end.cause == .exited(3) && end.errors.contains("2 unknown"), "\(end)")
            let way = /if the look-up, or "capture", is wrong, mend it, then 'pipeline run .*' again, with --changed/
            #expect(end.errors.contains(way), "\(end)")
            try workplace.write("job.json", document("$.job"))
            let right = try await call("run", "job.json", "--each", "rows.csv", "--batch", "june", "--changed")
            #expect(right.cause == .exited(0), "\(right)")
            #expect(right.errors.contains("2 items were unknown and now go on"), "\(right)")
            #expect(server.requests.count { $0.method == "POST" } == 2)
        }
    }

    /// It was refused, with a hint by which the job was ordered once more.
    @Test("hears pushes as the document has them by then, and orders nothing again")
    func callback() async throws {
        func stage(_ match: String) -> String {
            """
            "kind": "compute", "submit": { "POST": "/jobs", "json": {}, "capture": { "id": "$.id" } },
            "callback": { "match": "\(match)" },
            "poll": { "GET": "/jobs/${{ self.id }}", "status": "$.state", "succeeded": ["done"], "every": "50ms" }
            """
        }
        let isDone = Gate()
        try await withService(stage("response.body.job == self.id")) { request in
            if request.method == "POST" { return .json(#"{"id": "7"}"#) }
            return .json(isDone.isOpen ? #"{"state": "done"}"# : #"{"state": "running"}"#)
        } _: { workplace, server, call in
            let program = try workplace.program.start(
                ["run", "job.json", "--key", "job"], environment: workplace.environment(["API_URL": server.url]),
                folder: workplace.folder)
            _ = await server.requests(atLeast: 3)
            program.signal(SIGINT)
            #expect(await program.end.cause == .exited(75))
            isDone.open()
            try workplace.write("job.json", Self.document(stage("response.body.id == self.id")))
            let mended = try await call("retry", "job", "--changed")
            #expect(mended.cause == .exited(0), "\(mended)")
            #expect(server.requests.count { $0.method == "POST" } == 1)
        }
    }

    /// The stream was opened behind the event that ends it, and that came no more.
    @Test("reads a stream of events from its beginning once it looks for others, and orders nothing again")
    func events() async throws {
        func stage(_ name: String) -> String {
            """
            "kind": "compute", "submit": { "POST": "/jobs", "json": {}, "capture": { "id": "$.id" } }, "deadline": "1s",
            "poll": { "GET": "/events", "events": { "succeeded": ["\(name)"] }, "capture": { "url": "$.url" } }
            """
        }
        try await withService(stage("done")) { request in
            if request.method == "POST" { return .json(#"{"id": "j"}"#) }
            let all = "retry: 10\\n\\nid: 5\\nevent: completed\\ndata: {\"url\": \"/u\"}\\n\\n".replacing(
                "\\n", with: "\n")
            let isKnown = request.header("Last-Event-ID") == "5"
            return .status(200, headers: [("Content-Type", "text/event-stream")], body: isKnown ? ": none\n\n" : all)
        } _: { workplace, server, call in
            let end = try await call("run", "job.json", "--key", "job")
            #expect(end.cause == .exited(1), "\(end)")
            #expect(end.errors.contains("the stream ended after the event \"completed\""), "\(end)")
            try workplace.write("job.json", Self.document(stage("completed")))
            let mended = try await call("retry", "job", "--changed")
            #expect(mended.cause == .exited(0), "\(mended)")
            #expect(server.requests.count { $0.method == "POST" } == 1)
        }
    }

    /// The deadline counted from the first submit on, and ended what had just been allowed; the next command sent it.
    @Test("is sent again by the first command after a person allowed it, though its deadline has passed")
    func resubmit() async throws {
        let stage = """
            "kind": "compute", "submit": { "POST": "/jobs", "json": {}, "capture": { "id": "$.id" } }, "deadline": "50ms",
            "poll": { "GET": "/jobs", "status": "$.state", "succeeded": ["done"] }
            """
        try await withService(stage) { request in
            request.method == "POST" ? .json(#"{"job": "j"}"#) : .json(#"{"state": "done"}"#)
        } _: { workplace, server, call in
            #expect(try await call("run", "job.json", "--key", "job").cause == .exited(3))
            #expect(try await call("resolve", "job", "--stage", "work", "--resubmit").cause == .exited(0))
            #expect(try await call("resume", "job").cause == .exited(3))
            #expect(server.requests.count { $0.method == "POST" } == 2)
            #expect(try await call("resolve", "job", "--stage", "work", "--abandon").cause == .exited(0))
            try workplace.write(
                "job.json", Self.document(stage.replacing("\"/jobs\", \"json\"", with: "\"/job\", \"json\"")))
            let refused = try await call("retry", "job", "--changed")
            #expect(refused.cause == .exited(64) || refused.cause == .exited(2), "\(refused)")
            #expect(refused.errors.contains("--changed --from work"), "\(refused)")
            #expect(!refused.errors.contains("find out: pipeline resume"), "\(refused)")
        }
    }
}
