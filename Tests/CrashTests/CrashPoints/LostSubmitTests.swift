import JSONPath
import PipelineTestKit
import SelfieStudio
import Testing

@Suite("A submit whose answer is lost is never repeated blindly")
struct LostSubmitTests {
    @Test("with a key it is sent again with the same key, and the server has one job")
    func settledByKey() async throws {
        try await withWorkplace { workplace in
            try await withService(in: workplace, { $0.lostAnswers = 1 }) { service in
                let end = try await workplace.runSelfie(service)
                try await workplace.checkMesh(end)
                #expect(service.counters.answersLost == 1)
                #expect(service.counters.modelRequests == 2)
                #expect(service.counters.modelsSubmitted == 1)
            }
        }
    }

    @Test("with a key, killed as the answer is lost, resume sends the same key")
    func settledByKeyAfterCrash() async throws {
        try await withWorkplace { workplace in
            try await withService(in: workplace, { $0.lostAnswers = 1 }) { service in
                let killed = try await workplace.runSelfie(
                    service, environment: ["PIPELINE_CRASH_AT": "submit.sending:2"])
                #expect(killed.cause == .killed(9), "\(killed)")
                try await workplace.checkMesh(try await workplace.run("resume", environment: service.environment))
                #expect(service.counters.modelsSubmitted == 1)
            }
        }
    }

    @Test(
        "without once, a kill while it is sent leaves it unknown: exit status 3, and resume says what to type",
        arguments: ["submit.sending", "submit.sent", "submit.answered"])
    func unknownAfterCrash(_ point: String) async throws {
        try await withWorkplace { workplace in
            try await withService(in: workplace) { service in
                let killed = try await workplace.runSelfie(
                    service, document: Documents.selfieWithoutOnce(), environment: ["PIPELINE_CRASH_AT": point])
                #expect(killed.cause == .killed(9), "\(killed)")
                for _ in 1...2 {
                    let resumed = try await workplace.run("resume", environment: service.environment)
                    #expect(resumed.cause == .exited(3), "\(resumed)")
                    #expect(resumed.errors.contains("pipeline resolve"))
                }
                #expect(service.counters.modelRequests <= 1)
            }
        }
    }

    /// It was failed, and who began a new job for it paid for two.
    @Test("whose look-up is answered with trouble alone is unknown, and is resolved by hand")
    func troubledLookUp() async throws {
        let server = try LoopbackServer { request in
            switch request.path {
            case "/jobs": request.method == "POST" ? .status(500) : .json(#"{"state": "done"}"#)
            case "/jobs/mine": .status(500)
            default: .json(#"{"state": "done"}"#)
            }
        }
        defer { server.stop() }
        try await withWorkplace { workplace in
            try workplace.write(
                "look.json",
                """
                { "pipeline": 1, "name": "look", "retry": { "attempts": 3, "delay": "20ms", "max": "20ms" },
                  "services": { "s": { "url": "\(server.url)" } },
                  "stages": [ { "id": "model", "kind": "compute", "service": "s",
                    "submit": { "POST": "/jobs", "json": {}, "capture": { "id": "$.id" },
                                "once": { "name": { "GET": "/jobs/mine" }, "ours": "true" } },
                    "poll": { "GET": "/jobs/${{ self.id }}", "status": "$.state", "succeeded": ["done"] } } ] }
                """)
            let lost = try await workplace.run("run", "look.json")
            #expect(lost.cause == .exited(3), "\(lost)")
            let reason = "it was sent once, and the look-up failed: service 's' answered 500"
            #expect(lost.errors.contains(reason), "\(lost)")
            #expect(server.requests.filter { $0.method == "POST" }.count == 1)
            let resolved = try await workplace.run("resolve", "last", "--id", "j1")
            #expect(resolved.cause == .exited(0), "\(resolved)")
            #expect(try await workplace.run("resume", "last").cause == .exited(0))
            #expect(server.requests.filter { $0.method == "POST" }.count == 1)
        }
    }

    /// The job succeeded with null in the place of its result, or could not be resolved at all.
    @Test(
        "without a poll, a result that is lost is given by hand; one that is still to be had is asked for",
        arguments: ["submit.sent", "submit.answered"])
    func withoutPoll(point: String) async throws {
        let server = try LoopbackServer { request in
            request.method == "POST"
                ? .init([.head(202, [("Location", "/ops/1"), ("Content-Length", "0")])]) : .json(#"{"pages": 3}"#)
        }
        defer { server.stop() }
        try await withWorkplace { workplace in
            try workplace.write(
                "look.json",
                """
                { "pipeline": 1, "name": "look", "services": { "s": { "url": "\(server.url)" } },
                  "stages": [
                    { "id": "model", "kind": "compute", "service": "s",
                      "submit": { "POST": "/jobs", "json": {} }, "capture": { "pages": "$.pages" } },
                    { "id": "w", "kind": "write", "to": "pages.json", "json": "${{ stages.model.pages }}" } ] }
                """)
            func call(_ arguments: String..., crash: String? = nil) async throws -> ProgramEnd {
                try await workplace.program.run(
                    arguments, environment: workplace.environment(crash.map { ["PIPELINE_CRASH_AT": $0] } ?? [:]),
                    folder: workplace.folder)
            }
            #expect(try await call("run", "look.json", "--output", "out", crash: point).cause == .killed(9))
            #expect(try await call("resume", "last").cause == .exited(3))
            let alone = try await call("resolve", "last", "--id", "1")
            if point == "submit.sent" {
                #expect(alone.cause == .exited(64) && alone.errors.contains("also needs"), "\(alone)")
                #expect(try await call("resolve", "last", "--set", "pages=3").cause == .exited(0))
            } else {
                #expect(alone.cause == .exited(0), "\(alone)")
            }
            #expect(try await call("resume", "last").cause == .exited(0))
            #expect(workplace.bytes(workplace.path("out/pages.json"))?.starts(with: "3".utf8) == true)
            #expect(server.requests.filter { $0.method == "POST" }.count == 1)
        }
    }

    @Test("without once, a stage that was killed while it submitted is not begun anew before that is settled")
    func refusedAnew() async throws {
        try await withWorkplace { workplace in
            try await withService(in: workplace) { service in
                let killed = try await workplace.runSelfie(
                    service, document: Documents.selfieWithoutOnce(),
                    environment: ["PIPELINE_CRASH_AT": "submit.sent"])
                #expect(killed.cause == .killed(9), "\(killed)")
                let why = try await workplace.run("why", "last", environment: service.environment)
                #expect(why.output.contains("model: it is not known whether the service took the submit"), "\(why)")
                #expect(why.output.contains("reconciles it as 'once' says"), "\(why)")
                let refused = try await workplace.run(
                    "retry", "last", "--from", "model", environment: service.environment)
                #expect(refused.cause == .exited(3), "\(refused)")
                #expect(refused.errors.contains("it is not known whether the service took the submit"), "\(refused)")
                #expect(refused.errors.contains("go on with: pipeline resume"), "\(refused)")
                #expect(service.counters.modelRequests <= 1)
                let resumed = try await workplace.run("resume", environment: service.environment)
                #expect(resumed.cause == .exited(3), "\(resumed)")
            }
        }
    }

    /// The id alone reconciled it; the poll had no address then, and the only way on was a second order.
    @Test("that gives more than an id is resolved with all that the document needs, or not at all")
    func resolvedWhole() async throws {
        try await withWorkplace { workplace in
            let server = try LoopbackServer { request in
                request.path == "/jobs" ? .json(#"{"id": "j1"}"#) : .json(#"{"state": "done"}"#)
            }
            defer { server.stop() }
            try workplace.write(
                "more.json",
                """
                { "pipeline": 1, "name": "more", "services": { "s": { "url": "\(server.url)" } },
                  "stages": [ { "id": "model", "kind": "compute", "service": "s",
                    "submit": { "POST": "/jobs", "json": {},
                                "capture": { "id": "$.id", "place": "header:X-Place", "fast": "$.fast", "queue": "$.queue",
                                             "note": { "select": "$.note", "optional": true } } },
                    "poll": { "GET": "${{ self.place }}",
                              "query": { "q": "${{ self.queue ?? (self.fast ? 'fast' : 'none') }}", "n": "${{ self.note }}" },
                              "status": "$.state", "succeeded": ["done"] } } ] }
                """)
            let lost = try await workplace.run("run", "more.json")
            #expect(lost.cause == .exited(3), "\(lost)")
            #expect(
                lost.errors.contains("--stage model --id ID --set place=VALUE --set fast=VALUE   it is there"),
                "\(lost)")
            let half = try await workplace.run("resolve", "last", "--id", "j1")
            #expect(half.cause == .exited(64), "\(half)")
            #expect(half.errors.contains("also needs of the submit of 'model': place, fast"), "\(half)")
            let whole = try await workplace.run(
                "resolve", "last", "--id", "j1", "--set", "place=/jobs/j1", "--set", "fast=true")
            #expect(whole.cause == .exited(0), "\(whole)")
            let end = try await workplace.run("resume", "last")
            #expect(end.cause == .exited(0), "\(end)")
            #expect(server.requests.map(\.target) == ["/jobs", "/jobs/j1?q=fast"])
        }
    }

    /// The job succeeded without its file, or with an older one of that name.
    @Test("whose response was its file is not resolved by an id: it is asked for once more, or given up")
    func resolvedFile() async throws {
        try await withWorkplace { workplace in
            let server = try LoopbackServer { request in
                request.number == 1 ? ScriptedAnswer([.readBody, .reset]) : .status(200, body: "speech")
            }
            defer { server.stop() }
            try workplace.write(
                "speech.json",
                """
                { "pipeline": 1, "name": "speech", "services": { "s": { "url": "\(server.url)" } },
                  "stages": [ { "id": "say", "kind": "request", "service": "s",
                    "request": { "POST": "/speech", "json": {} }, "to": "speech.mp3" } ] }
                """)
            let lost = try await workplace.run("run", "speech.json", "--output", workplace.output)
            #expect(lost.cause == .exited(3) && !lost.errors.contains("--id"), "\(lost)")
            let refused = try await workplace.run("resolve", "last", "--id", "x")
            #expect(refused.cause == .exited(64) && refused.errors.contains("was its result"), "\(refused)")
            #expect(try await workplace.run("resolve", "last", "--resubmit").cause == .exited(0))
            let end = try await workplace.run("resume", "last")
            #expect(end.cause == .exited(0) && server.requests.count == 2, "\(end)")
            #expect(TemporaryFolder.text(of: workplace.output + "/speech.mp3") == "speech")
        }
    }

    /// How a person settles it, and what must come of it.
    enum Way: String, CaseIterable, Sendable { case id, resubmit, abandon }

    @Test("without once it is unknown until a person says what became of it", arguments: Way.allCases)
    func resolved(_ way: Way) async throws {
        try await withWorkplace { workplace in
            try await withService(in: workplace, { $0.lostAnswers = 1 }) { service in
                let lost = try await workplace.runSelfie(service, document: Documents.selfieWithoutOnce())
                #expect(lost.cause == .exited(3), "\(lost)")
                try await expectUnknown(lost, workplace, service)
                let id = try #require(service.models.first?["id"]?.string)
                let job = try #require(try await workplace.show()["job"]?.string)
                let choice =
                    switch way {
                    case .id: ["--id", id]
                    case .resubmit: ["--resubmit"]
                    case .abandon: ["--abandon"]
                    }
                let resolved = try await workplace.program.run(
                    ["resolve", job, "--stage", "model"] + choice,
                    environment: workplace.environment(service.environment))
                #expect(resolved.cause == .exited(0), "\(resolved)")
                if way == .abandon { #expect(try await workplace.show()["state"] == "failed") }
                let end = try await workplace.run("resume", job, environment: service.environment)
                try await expectEnd(end, of: way, workplace, service)
            }
        }
    }

    private func expectUnknown(_ lost: ProgramEnd, _ workplace: Workplace, _ service: Service) async throws {
        let job = try #require(try await workplace.show()["job"]?.string)
        #expect(try await workplace.show()["state"] == "unknown")
        #expect(lost.errors.contains("pipeline resolve \(job) --stage model"))
        #expect(lost.output.isEmpty)
        let refused = try await workplace.run("resume", environment: service.environment)
        #expect(refused.cause == .exited(3), "\(refused)")
        #expect(refused.errors.contains("pipeline resolve \(job) --stage model"))
        let why = try await workplace.run("why")
        #expect(
            why.output.contains("pipeline resolve \(job) --stage model with --id ID, --resubmit or --abandon"), "\(why)"
        )
        #expect(!why.output.contains("pipeline resume"), "\(why)")
        #expect(service.counters.modelRequests == 1)
    }

    private func expectEnd(_ end: ProgramEnd, of way: Way, _ workplace: Workplace, _ service: Service) async throws {
        switch way {
        case .id:
            try await workplace.checkMesh(end)
            #expect(service.counters.modelsSubmitted == 1)
        case .resubmit:
            try await workplace.checkMesh(end)
            #expect(service.counters.modelsSubmitted == 2)
        case .abandon:
            #expect(end.cause == .exited(1), "\(end)")
            #expect(try await workplace.show()["state"] == "failed")
            #expect(service.counters.modelRequests == 1)
        }
        try await workplace.checkEvents()
    }

    /// Its hint sent nothing, and no other command went on with the job.
    @Test("with onUnknown \"fail\" it is sent again by who names the stage, or resolved once the document asks")
    func failedAsUnknown() async throws {
        let server = try LoopbackServer { request in
            guard request.method == "POST" else { return .json(#"{"state": "done"}"#) }
            return request.number == 1
                ? ScriptedAnswer([.readBody, .reset]) : .json("{\"id\": \"j\(request.number)\"}")
        }
        defer { server.stop() }
        func document(_ end: String) -> String {
            """
            { "pipeline": 1, "name": "lost", "services": { "s": { "url": "\(server.url)" } },
              "stages": [ { "id": "model", "kind": "compute", "service": "s",
                "submit": { "POST": "/jobs", "json": {}, "capture": { "id": "$.id" }, "onUnknown": "\(end)" },
                "poll": { "GET": "/jobs/${{ self.id }}", "status": "$.state", "succeeded": ["done"] } } ] }
            """
        }
        try await withWorkplace { workplace in
            try workplace.write("lost.json", document("fail"))
            let lost = try await workplace.run("run", "lost.json")
            #expect(lost.cause == .exited(1) && lost.errors.contains("--from model' sends it again"), "\(lost)")
            // What could not be found out is not taken for a word of the person.
            let again = try await workplace.run("retry", "last")
            #expect(again.cause == .exited(1) && server.requests.count == 1, "\(again)")
            try workplace.write("lost.json", document("ask"))
            let asked = try await workplace.run("retry", "last", "--changed")
            #expect(asked.cause == .exited(3) && server.requests.count == 1, "\(asked)")
            #expect(try await workplace.run("resolve", "last", "--abandon").cause == .exited(0))
            // Given up, the stage begins again with a submit of its own, and says what may be left of the other.
            let sent = try await workplace.run("retry", "last")
            #expect(sent.cause == .exited(0) && sent.errors.contains("may be at its service"), "\(sent)")
            #expect(server.requests.count { $0.method == "POST" } == 2)
        }
    }

    @Test("with onUnknown \"fail\" a retry from its stage sends it under another key")
    func failedAndSent() async throws {
        let server = try LoopbackServer { request in
            guard request.method == "POST" else { return .json(#"{"state": "done"}"#) }
            return request.number == 1 ? ScriptedAnswer([.readBody, .reset]) : .json(#"{"id": "j"}"#)
        }
        defer { server.stop() }
        try await withWorkplace { workplace in
            try workplace.write(
                "lost.json",
                """
                { "pipeline": 1, "name": "lost", "services": { "s": { "url": "\(server.url)" } },
                  "stages": [ { "id": "model", "kind": "compute", "service": "s",
                    "submit": { "POST": "/jobs", "json": { "key": "${{ self.key }}" }, "capture": { "id": "$.id" },
                                "onUnknown": "fail" },
                    "poll": { "GET": "/jobs/${{ self.id }}", "status": "$.state", "succeeded": ["done"] } } ] }
                """)
            #expect(try await workplace.run("run", "lost.json").cause == .exited(1))
            let sent = try await workplace.run("retry", "last", "--from", "model")
            #expect(sent.cause == .exited(0), "\(sent)")
            let keys = server.requests.filter { $0.method == "POST" }.map(\.body)
            #expect(keys.count == 2 && keys.first != keys.last)
        }
    }

    /// The stage failed once its job had been ordered, at each resume again.
    @Test("a wrong value of its poll that an earlier stage gave is told before anything is submitted")
    func wrongPoll() async throws {
        let server = try LoopbackServer { _ in .json(#"{"id": "j", "every": "soon", "state": "done"}"#) }
        defer { server.stop() }
        try await withWorkplace { workplace in
            try workplace.write(
                "poll.json",
                """
                { "pipeline": 1, "name": "poll", "services": { "s": { "url": "\(server.url)" } },
                  "stages": [
                    { "id": "ask", "kind": "request", "service": "s", "request": { "GET": "/pace" },
                      "capture": { "every": "$.every" } },
                    { "id": "model", "kind": "compute", "service": "s",
                      "submit": { "POST": "/jobs", "json": {}, "capture": { "id": "$.id" } },
                      "poll": { "GET": "/jobs/${{ self.id }}", "status": "$.state", "succeeded": ["done"],
                                "every": "${{ stages.ask.every }}" } } ] }
                """)
            let end = try await workplace.run("run", "poll.json")
            #expect(end.cause == .exited(1) && end.errors.contains("\"soon\" is no duration"), "\(end)")
            #expect(server.requests.map(\.method) == ["GET"])
        }
    }

    @Test("a wrong value that nothing uses keeps no stage from its beginning")
    func unusedValues() async throws {
        let server = try LoopbackServer { _ in .json(#"{"id": "j", "none": null, "items": [], "state": "done"}"#) }
        defer { server.stop() }
        try await withWorkplace { workplace in
            let compute = """
                "kind": "compute", "service": "s", "submit": { "POST": "/jobs", "json": {}, "capture": { "id": "$.id" } }
                """
            let poll = #""GET": "/jobs/${{ self.id }}", "status": "$.state", "succeeded": ["done"]"#
            try workplace.write(
                "poll.json",
                """
                { "pipeline": 1, "name": "poll", "services": { "s": { "url": "\(server.url)" } },
                  "stages": [
                    { "id": "ask", "kind": "request", "service": "s", "request": { "GET": "/pace" },
                      "capture": { "none": "$.none", "items": "$.items" } },
                    { "id": "many", \(compute), "forEach": "stages.ask.items",
                      "poll": { \(poll), "every": "${{ stages.ask.none }}" } },
                    { "id": "one", \(compute), "poll": { \(poll) }, "estimate": "${{ stages.ask.none }}",
                      "cancel": { "DELETE": "/jobs/${{ self.id }}", "timeout": "${{ stages.ask.none }}" } } ] }
                """)
            let end = try await workplace.run("run", "poll.json")
            #expect(end.cause == .exited(0), "\(end)")
        }
    }

    @Test("a POST of a request that is cancelled while it is under way may be at the service: that is told")
    func cancelledRequest() async throws {
        let gate = Gate()
        let server = try LoopbackServer { _ in ScriptedAnswer([.readBody, .wait(gate)]) }
        defer {
            gate.open()
            server.stop()
        }
        try await withWorkplace { workplace in
            try workplace.write(
                "post.json",
                """
                { "pipeline": 1, "name": "post", "services": { "s": { "url": "\(server.url)" } },
                  "stages": [ { "id": "order", "kind": "request", "service": "s",
                                "request": { "POST": "/orders", "json": {} } } ] }
                """)
            let run = try workplace.program.start(
                ["run", "post.json"], environment: workplace.environment(), folder: workplace.folder)
            _ = await server.requests(atLeast: 1)
            #expect(try await workplace.run("cancel", "last").cause == .exited(0))
            let end = await run.end
            #expect(end.errors.contains("not known whether the service took the submit"), "\(end)")
        }
    }

    /// libcurl sends a request again by itself when a reused connection is reset before a byte of the answer
    /// (curl/curl#18417).
    @Test("a submit goes out on a connection of its own, and a reset after it is not answered by a second one")
    func keptAliveReset() async throws {
        let server = try LoopbackServer { request in
            request.path == "/jobs" ? ScriptedAnswer([.readBody, .reset]) : .json("{}")
        }
        defer { server.stop() }
        try await withWorkplace { workplace in
            let document = try workplace.write("pair.json", Documents.uploadAndCompute)
            let file = try workplace.write("some.txt", "some bytes")
            let end = try await workplace.run(
                "run", document, "-i", "file=\(file)", environment: ["SERVER_URL": server.url])
            #expect(end.cause == .exited(3), "\(end)")
            let submits = server.requests.filter { $0.path == "/jobs" }
            #expect(submits.count == 1)
            #expect(submits.first?.numberOnConnection == 1)
        }
    }
}
