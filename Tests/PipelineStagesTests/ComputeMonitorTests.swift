import JSONPath
import PipelineCore
import PipelineHTTP
import Testing

@Suite("A job without a poll")
struct ComputeMonitorTests {
    private func bench(_ service: ScriptedService) throws -> StageBench {
        try StageBench(
            """
            { "id": "model", "kind": "compute", "service": "api",
              "submit": { "POST": "/jobs", "once": { "key": "Idempotency-Key" } }, "capture": { "url": "$.url" } }
            """, network: service.network, secrets: ["T": "sesame-secret"],
            with: #"[ { "bearer": "${{ secrets.T }}" } ]"#)
    }

    @Test("ends with a 200 or 201", arguments: [200, 201])
    func immediate(status: Int) async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", status, #"{"url": "u"}"#)
        let bench = try bench(service)
        #expect(await bench.resume().isFinished)
        #expect(bench.captures["url"] == "u")
    }

    @Test("that ended keeps its result over a crash right after the commit")
    func crashAfterCommit() async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", 200, #"{"url": "u"}"#)
        let bench = try bench(service)
        bench.host.read { $0.crashPoint = .submitCommitted }
        await bench.resume()
        bench.host.read { $0.journalFailure = nil }
        bench.checkpoint = bench.host.read { $0.checkpoint }
        #expect(await bench.resume().isFinished)
        #expect(bench.captures["url"] == "u")
        #expect(service.lines == ["POST /v1/jobs"])
    }

    @Test("is watched at the Location of a 202 until it is no longer 202")
    func accepted() async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", 202, "", headers: ["Location": "/operations/9", "Retry-After": "4"])
        service.on("GET /operations/9", 202, "", headers: ["Retry-After": "6"])
        service.on("GET /operations/9", 503)
        service.on("GET /operations/9", 200, #"{"url": "u"}"#)
        let bench = try bench(service)
        await bench.resume()
        #expect(bench.wait == 4)
        await bench.resume()
        #expect(bench.wait == 6)
        #expect(await bench.run().isFinished)
        #expect(bench.captures["url"] == "u")
        #expect(service.requests.allSatisfy { $0.header("Authorization") == "Bearer sesame-secret" })
    }

    /// The job was ended by the page, and a retry began another one.
    @Test("is asked again where a page for people comes in its place, and ends with one that has what is captured")
    func login() async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", 202, "", headers: ["Location": "/operations/9"])
        service.on(
            "GET /operations/9", 200, "<html>who are you?</html>", headers: ["Content-Type": "text/html; charset=utf-8"]
        )
        service.on("GET /operations/9", 200, #"{"url": "u"}"#, headers: ["Content-Type": "text/html"])
        let bench = try bench(service)
        await bench.resume()
        await bench.resume()
        #expect(bench.wait != nil && bench.captures["url"] == nil)
        #expect(await bench.run().isFinished)
        #expect(bench.captures["url"] == "u")
        #expect(service.lines == ["POST /v1/jobs", "GET /operations/9", "GET /operations/9"])
    }

    @Test("gives the Location of another origin no credentials")
    func otherOrigin() async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", 202, "", headers: ["Location": "http://evil.test/operations/9"])
        service.on("GET /operations/9", 200, #"{"url": "u"}"#)
        let bench = try bench(service)
        #expect(await bench.run().isFinished)
        #expect(service.requests[1].url == "http://evil.test/operations/9")
        #expect(service.requests[1].header("Authorization") == nil)
    }

    // A retry after a refusal once began a second job beside the first.
    @Test("that is not known there any more is begun anew by a retry; a refusal leaves it to be asked for again")
    func refusal() async throws {
        for (status, isEnd) in [(404, true), (410, true), (400, false), (401, false), (403, false)] {
            let service = ScriptedService()
            service.on("POST /v1/jobs", 202, "", headers: ["Location": "/operations/9"])
            service.on("GET /operations/9", status)
            let failure = try #require(await (try bench(service)).run().tryFailure)
            #expect(failure.kind == .definite && failure.endsRemoteJob == isEnd, "\(status)")
        }
    }

    /// A stage failed after a second, and each resume ordered again.
    @Test("that its service does not know yet is asked for again")
    func notYet() async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", 202, "", headers: ["Location": "/operations/9"])
        service.on("GET /operations/9", 404)
        service.on("GET /operations/9", 200, #"{"url": "u"}"#)
        let bench = try bench(service)
        #expect(await bench.run().isFinished)
        #expect(service.lines == ["POST /v1/jobs", "GET /operations/9", "GET /operations/9"])
    }

    @Test("fails when the operation is refused, and when a 202 names no place")
    func failures() async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", 202, "", headers: ["Location": "/operations/9"])
        service.on("GET /operations/9", 404)
        #expect(await (try bench(service)).run().definite?.contains("answered 404") == true)
        let silent = ScriptedService()
        silent.on("POST /v1/jobs", 202)
        #expect(await (try bench(silent)).resume().definite?.contains("no Location") == true)
    }

    // The resume that the failure names, and a restart after a kill, once called such a job done.
    @Test("of which a 202 names no place fails at each resume, also after a crash", arguments: [true, false])
    func nowhere(crashes: Bool) async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", 202, "", headers: ["Operation-Location": "/operations/9"])
        let bench = try bench(service)
        if crashes { bench.host.read { $0.crashPoint = .submitCommitted } }
        let failed = try #require(await bench.resume().tryFailure)
        #expect(failed.kind == .definite && !failed.endsRemoteJob)
        #expect(failed.failure.hint?.contains("header:Operation-Location") == true)
        bench.host.read {
            $0.journalFailure = nil
            $0.crashPoint = nil
        }
        for _ in 1...2 { #expect(await bench.resume().definite?.contains("no Location") == true) }
        #expect(service.lines == ["POST /v1/jobs"])
    }

    // The look-up's answer was once taken for the result, whatever it said of the job.
    @Test("that is found again is watched where the look-up leads, and not done where that leads nowhere")
    func adopted() async throws {
        func bench(_ service: ScriptedService) throws -> StageBench {
            service.on("POST /v1/jobs", fails: .timedOut(.total))
            return try StageBench(
                """
                { "id": "model", "kind": "compute", "service": "api",
                  "submit": { "POST": "/jobs", "once": { "name": { "GET": "/jobs/${{ job.key }}" }, "ours": "true" } },
                  "capture": { "url": "$.url?" } }
                """, network: service.network)
        }
        let silent = ScriptedService()
        silent.on("GET /v1/jobs/key1", 200, #"{"state": "running"}"#)
        let open = try bench(silent)
        for _ in 1...2 { #expect(await open.resume().definite?.contains("no Location") == true) }
        #expect(silent.lines == ["POST /v1/jobs", "GET /v1/jobs/key1"])

        let leading = ScriptedService()
        leading.on("GET /v1/jobs/key1", 202, "", headers: ["Location": "/operations/9"])
        leading.on("GET /operations/9", 200, #"{"url": "u"}"#)
        let watched = try bench(leading)
        #expect(await watched.run().isFinished)
        #expect(watched.captures["url"] == "u")
        #expect(leading.lines == ["POST /v1/jobs", "GET /v1/jobs/key1", "GET /operations/9"])
    }

    @Test(
        "goes on from the checkpoints of before, and is done where a person said what became of the submit",
        arguments: [
            (#""isEnded":true"#, true), (#""isEnded":false"#, true), (#""isEnded":false,"isLeftOpen":true"#, false),
            (#""isEnded":false,"monitor":"http://api.test/op""#, true),
        ])
    func earlierCheckpoint(members: String, isFinished: Bool) async throws {
        let service = ScriptedService()
        service.on("GET /op", 200, #"{"url": "u"}"#)
        let bench = try bench(service)
        bench.checkpoint = Array(#"{"isSubmitted":true,"polls":0,"failures":0,\#(members)}"#.utf8)
        #expect(await bench.run().isFinished == isFinished)
    }
}
