import JSONPath
import PipelineCore
import PipelineHTTP
import Testing

/// The job of before was found and taken for the new one: its failure, or its result, was told once more.
@Suite("A submit that a retry sends anew, and looks up")
struct LookUpGenerationTests {
    enum LookUp: CaseIterable {
        case name, match

        /// - Parameter value: the expression that gives the name, or the tag.
        func once(by value: String) -> String {
            switch self {
            case .name: #"{ "name": { "GET": "/jobs/${{ \#(value) }}" }, "ours": "response.body.tag == \#(value)" }"#
            case .match:
                #"{ "match": { "list": { "GET": "/jobs" }, "items": "$.data[*]", "where": "item.tag == \#(value)" } }"#
            }
        }

        func finds(_ tag: String, at service: ScriptedService) {
            let job = #"{"id": "j1", "tag": "\#(tag)"}"#
            switch self {
            case .name: service.on("GET /v1/jobs/\(tag)", 200, job)
            case .match: service.on("GET /v1/jobs", 200, #"{"data": [\#(job)]}"#)
            }
        }

        func findsNothing(of tag: String, at service: ScriptedService) {
            switch self {
            case .name: service.on("GET /v1/jobs/\(tag)", 404)
            case .match: service.on("GET /v1/jobs", 200, #"{"data": []}"#)
            }
        }
    }

    private static let key = SubmitName(jobKey: "key1", step: StepKey(stage: "model")).key(ofGeneration: 2)

    private func bench(_ service: ScriptedService, once: String) throws -> StageBench {
        let bench = try StageBench(
            """
            { "id": "model", "kind": "compute", "service": "api",
              "submit": { "POST": "/jobs", "once": \(once), "capture": { "id": "$.id" }, "json": { "a": 1 } },
              "poll": { "GET": "/jobs/${{ self.id }}", "status": "$.state", "succeeded": ["done"] } }
            """, network: service.network)
        bench.host.read { $0.record = SubmitRecord(key: Self.key, generation: 2, digest: "") }
        return bench
    }

    private func submits(_ service: ScriptedService) -> Int { service.lines.filter { $0 == "POST /v1/jobs" }.count }

    @Test("fails when its name is taken, as the job of before may have it", arguments: LookUp.allCases)
    func taken(lookUp: LookUp) async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", 409)
        lookUp.finds("key1", at: service)
        let bench = try bench(service, once: lookUp.once(by: "job.key"))
        let failed = await bench.resume().tryFailure
        #expect(failed?.kind == .definite)
        #expect(failed?.failure.title == "the name is still taken by the job of before")
        #expect(failed?.failure.hint?.contains("put ${{ self.key }}, which a retry changes, into the name") == true)
        #expect(bench.captures["id"] == nil)
        #expect(bench.host.read { $0.record?.phase } == .refused)
        #expect(submits(service) == 1)
    }

    @Test("is unknown when its answer is lost and the job of before may be what is found", arguments: LookUp.allCases)
    func lost(lookUp: LookUp) async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", fails: .closedEarly)
        lookUp.finds("key1", at: service)
        let bench = try bench(service, once: lookUp.once(by: "job.key"))
        for _ in 1...2 {
            let reason = await bench.resume().unknown?.reason
            #expect(reason?.contains("what was found may be the job of before: put ${{ self.key }}") == true)
        }
        #expect(bench.captures["id"] == nil)
        #expect(submits(service) == 1)
    }

    @Test("is unknown when its name is taken after a first answer was lost", arguments: LookUp.allCases)
    func takenAfterLoss(lookUp: LookUp) async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", fails: .closedEarly)
        service.on("POST /v1/jobs", 409)
        for _ in 1...2 { lookUp.findsNothing(of: "key1", at: service) }
        lookUp.finds("key1", at: service)
        let bench = try bench(service, once: lookUp.once(by: "job.key"))
        #expect(await bench.resume().isWaiting)
        #expect(await bench.resume().unknown?.reason.contains("may be the job of before") == true)
        #expect(submits(service) == 2)
    }

    @Test("is sent again when nothing is found", arguments: LookUp.allCases)
    func missing(lookUp: LookUp) async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", fails: .closedEarly)
        service.on("POST /v1/jobs", 201, #"{"id": "j2"}"#)
        lookUp.findsNothing(of: "key1", at: service)
        let bench = try bench(service, once: lookUp.once(by: "job.key"))
        #expect(await bench.resume().isWaiting)
        #expect(bench.reason?.kind == .settle)
        #expect(await bench.resume().isWaiting)
        #expect(bench.captures["id"] == "j2")
    }

    @Test(
        "is adopted where self.key says that it is this one, whether its answer is lost or its name taken",
        arguments: LookUp.allCases, [true, false])
    func own(lookUp: LookUp, isLost: Bool) async throws {
        let service = ScriptedService()
        if isLost {
            service.on("POST /v1/jobs", fails: .closedEarly)
        } else {
            service.on("POST /v1/jobs", 409)
        }
        lookUp.finds(Self.key, at: service)
        let bench = try bench(service, once: lookUp.once(by: "self.key"))
        #expect(await bench.resume().isWaiting)
        #expect(bench.captures["id"] == "j1")
        #expect(submits(service) == 1)
    }

    @Test(
        "is adopted wherever self.key stands in the look-up",
        arguments: [
            #"{ "name": { "GET": "/jobs", "query": { "tag": "${{ self.key }}" } }, "ours": "true" }"#,
            #"{ "name": { "GET": "/jobs" }, "ours": "response.body.data[0].tag == self.key" }"#,
            #"""
            { "match": { "list": { "GET": "/jobs", "headers": { "X-Tag": "${{ self.key }}" } }, "items": "$.data[*]",
                         "where": "true" } }
            """#,
            #"""
            { "match": { "list": { "GET": "/jobs" }, "items": "$.data[*]", "where": "true",
                         "then": { "GET": "/jobs", "headers": { "X-Tag": "${{ self.key }}" } } } }
            """#,
        ])
    func places(once: String) async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", fails: .closedEarly)
        service.on("GET /v1/jobs", 200, #"{"id": "j1", "data": [{"id": "j1", "tag": "\#(Self.key)"}]}"#)
        let bench = try bench(service, once: once)
        #expect(await bench.resume().isWaiting)
        #expect(bench.captures["id"] == "j1")
    }
}
