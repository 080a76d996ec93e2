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
}
