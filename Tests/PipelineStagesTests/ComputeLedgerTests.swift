import Foundation
import JSONPath
import PipelineCore
import PipelineHTTP
import PipelineTestKit
import Testing

@Suite("A submit through the ledger")
struct ComputeLedgerTests {
    private func bench(
        _ service: ScriptedService, once: String = "", extra: String = "", submit: String = "",
        captures: String = #""capture": { "id": "$.id" },"#
    ) throws -> StageBench {
        let settling = once.isEmpty ? "" : "\"once\": \(once),"
        return try StageBench(
            """
            { "id": "model", "kind": "compute", "service": "api", \(extra)
              "submit": { "POST": "/jobs", \(settling) \(submit) \(captures) "json": { "a": 1 } },
              "poll": { "GET": "/jobs/${{ self.id }}", "status": "$.state", "succeeded": ["done"] } }
            """, network: service.network)
    }

    @Test("commits intent, sending and submitted in this order, and the captures with the last")
    func order() async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", 201, #"{"id": "j1"}"#)
        let bench = try bench(service)
        #expect(await bench.resume().isWaiting)
        let state = bench.host.read { $0 }
        #expect(state.phases == [.intent, .sending, .submitted])
        #expect(
            state.points == [.submitIntent, .submitSending, .submitSent, .submitAnswered, .submitCommitted])
        #expect(bench.captures["id"] == "j1")
        #expect(service.sentOptions[0].freshConnection)
        #expect(service.requests[0].header("Content-Type") == "application/json")
        #expect(service.requests[0].text == #"{"a":1}"#)
    }

    @Test("that was accepted is not sent again after a restart without a checkpoint")
    func restart() async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", 201, #"{"id": "j1"}"#)
        service.on("GET /v1/jobs/j1", 200, #"{"state": "done"}"#)
        let bench = try bench(service)
        await bench.resume()
        bench.checkpoint = nil
        #expect(await bench.run().isFinished)
        #expect(service.lines.filter { $0 == "POST /v1/jobs" }.count == 1)
    }

    @Test("no capture of a stage may be called \"key\", which is the key that submits go under")
    func reservedName() {
        let model = """
            { "id": "model", "kind": "compute", "service": "api",
              "submit": { "POST": "/m", "capture": { "key": "$.key" }, "once": { "key": "Idempotency-Key" } },
              "poll": { "GET": "/m/7", "status": "$.state", "succeeded": ["done"], "capture": { "key": "$.key" } },
              "capture": { "key": "$.key?" } }
            """
        let request =
            #"{ "id": "a", "kind": "request", "request": { "GET": "http://h/" }, "capture": { "key": "text" } }"#
        for (stage, count) in [(model, 3), (request, 1)] {
            let report = StageBench.report(stage)
            #expect(report.components(separatedBy: "error: no capture may be called \"key\"").count == count + 1)
            #expect(report.contains("hint: give it another name"))
        }
    }

    /// It waited once more for as long as before the crash.
    @Test("that was accepted before a crash is polled at once, whatever the pace", arguments: ["first", "every"])
    func polledAfterRestart(pace: String) async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", 201, #"{"id": "j1"}"#)
        service.on("GET /v1/jobs/j1", 200, #"{"state": "done"}"#)
        let bench = try StageBench(
            """
            { "id": "model", "kind": "compute", "service": "api",
              "submit": { "POST": "/jobs", "json": {}, "capture": { "id": "$.id" } },
              "poll": { "GET": "/jobs/${{ self.id }}", "status": "$.state", "succeeded": ["done"], "\(pace)": "1h" } }
            """, network: service.network)
        bench.host.read { $0.crashPoint = .submitCommitted }
        await bench.resume()
        bench.host.read { ($0.crashPoint, $0.journalFailure) = (nil, nil) }
        #expect(await bench.resume().isFinished)
        #expect(service.lines == ["POST /v1/jobs", "GET /v1/jobs/j1"])
    }

    /// A kept list knew nothing of the submit, twice, and the submit was sent once more.
    @Test("is looked for at the service itself, whatever a cache has")
    func lookUpPastCache() async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", fails: .connectionReset, connectionMade: true)
        service.on("GET /v1/jobs", 200, #"{"data": [ { "tag": "key1", "id": "j1" } ]}"#)
        service.on("GET /v1/jobs/j1", 200, #"{"state": "done", "id": "j1"}"#)
        let bench = try StageBench(
            """
            { "id": "model", "kind": "compute", "service": "api",
              "submit": { "POST": "/jobs", "json": { "a": 1 }, "capture": { "id": "$.id" },
                          "once": { "match": { "list": { "GET": "/jobs" }, "items": "$.data[*]", "where": "true",
                                               "then": { "GET": "/jobs/j1" } } } },
              "poll": { "GET": "/jobs/${{ self.id }}", "status": "$.state", "succeeded": ["done"] } }
            """, network: service.network, with: #"[ { "cache": { "maxAge": "1h" } } ]"#)
        #expect(await bench.run().isFinished)
        #expect(service.lines.prefix(3) == ["POST /v1/jobs", "GET /v1/jobs", "GET /v1/jobs/j1"])
        #expect(service.requests.prefix(3).allSatisfy { $0.cachePolicy == nil })
    }

    private static let linkAndModel = """
        { "id": "link", "kind": "request", "service": "api", "request": { "GET": "/link" },
          "capture": { "url": "$.url" } },
        { "id": "model", "kind": "compute", "service": "api",
          "submit": { "POST": "/jobs", "capture": { "id": "$.id" }, "once": { "key": "Idempotency-Key" },
                      "json": { "input": "${{ stages.link.url }}", "name": "${{ self.key }}" } },
          "poll": { "GET": "/jobs/${{ self.id }}", "status": "$.state", "succeeded": ["done"] } }
        """

    /// The fresh link went out under the key of the refused one: services answer 422, or give the refusal again.
    @Test("that was refused goes out under another key where it is another request, and only there")
    func keyOfAnother() async throws {
        let service = ScriptedService()
        for status in [403, 403, 201] { service.on("POST /v1/jobs", status, #"{"id": "j1"}"#) }
        let bench = try StageBench(
            Self.linkAndModel, network: service.network, captures: ["link": .object(["url": "u1"])])
        for url in ["u1", "u1", "u2"] {
            bench.host.read { state in
                state.scope.stages["link"] = .object(["url": .string(url)])
                // As a renewal and a retry leave it.
                guard state.record?.phase == .refused else { return }
                state.record?.phase = .intent
                state.record?.sends = 0
                state.record?.firstSent = nil
            }
            await bench.resume()
        }
        let keys = [1, 1, 2].map { SubmitName(jobKey: "key1", step: StepKey(stage: "model")).key(ofGeneration: $0) }
        #expect(service.requests.map { $0.header("Idempotency-Key") } == keys)
        #expect(service.requests.last?.text == #"{"input":"u2","name":"\#(keys[2])"}"#)
        #expect(bench.captures["id"] == "j1")
    }

    @Test("keeps its key, whatever is sent, while a response under it is lost")
    func keyOfLost() async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", fails: .connectionReset)
        service.on("POST /v1/jobs", 201, #"{"id": "j1"}"#)
        let bench = try StageBench(
            Self.linkAndModel, network: service.network, captures: ["link": .object(["url": "u1"])])
        await bench.resume()
        bench.host.read { $0.scope.stages["link"] = .object(["url": "u2"]) }
        await bench.resume()
        #expect(service.requests.count == 2)
        #expect(Set(service.requests.map { $0.header("Idempotency-Key") }).count == 1)
        #expect(bench.captures["id"] == "j1")
    }

    @Test("goes back to intent when no connection was made")
    func notSent() async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", fails: .connectionRefused, connectionMade: false)
        service.on("POST /v1/jobs", 201, #"{"id": "j1"}"#)
        let bench = try bench(service)
        let failure = await bench.resume().tryFailure
        #expect(failure?.kind == .silent)
        #expect(failure?.failure.hint == "is the service running? check the url of service 'api'")
        #expect(bench.host.read { $0.record?.phase } == .intent)
        #expect(bench.host.read { $0.record?.sends } == 0)
        #expect(await bench.resume().isWaiting)
        #expect(service.lines.count == 2)
    }

    @Test("is sent again after 429 and 503, with Retry-After as floor", arguments: [429, 503])
    func notAccepted(status: Int) async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", status, "", headers: ["Retry-After": "7"])
        service.on("POST /v1/jobs", 201, #"{"id": "j1"}"#)
        let bench = try bench(service)
        let failure = await bench.resume().tryFailure
        #expect(failure?.kind == .answered)
        #expect(failure?.retryAfter == .seconds(7))
        #expect(bench.host.read { $0.record?.phase } == .intent)
        #expect(await bench.resume().isWaiting)
    }

    /// The list was read for polls and requests, and a submit that was answered so failed at the first try.
    @Test(
        "is sent again after a status that retry.statuses names beyond the usual ones", arguments: [423, 400, 409, 529])
    func namedStatus(status: Int) async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", status, "", headers: ["Retry-After": "7"])
        service.on("POST /v1/jobs", 201, #"{"id": "j1"}"#)
        let bench = try bench(service, extra: "\"retry\": { \"statuses\": [429, \(status)] },")
        let failure = await bench.resume().tryFailure
        #expect(failure?.kind == .answered)
        #expect(failure?.retryAfter == .seconds(7))
        #expect(bench.host.read { $0.record?.phase } == .intent)
        #expect(await bench.resume().isWaiting)
    }

    /// The pause that a 202 asked for was passed over, and all sends were gone before the service was ready.
    @Test("whose captures are not yet there is sent again under its key, with Retry-After as floor")
    func floorWithoutCaptures() async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", 202, "{}", headers: ["Retry-After": "7"])
        service.on("POST /v1/jobs", 201, #"{"id": "j1"}"#)
        let bench = try bench(service, once: #"{ "key": "X-Key" }"#)
        let failure = await bench.resume().tryFailure
        #expect(failure?.kind == .answered)
        #expect(failure?.retryAfter == .seconds(7))
        #expect(await bench.resume().isWaiting)
    }

    @Test("that may have been accepted is not sent again because a list repeats the usual statuses")
    func repeatedStatuses() async throws {
        for status in [408, 425, 500, 502, 504] {
            let service = ScriptedService()
            service.on("POST /v1/jobs", status)
            let statuses = #""retry": { "statuses": [408, 425, 429, 500, 502, 503, 504, 423] },"#
            #expect(try await bench(service, extra: statuses).resume().unknown != nil)
            #expect(service.lines.count == 1)
        }
    }

    @Test("with a key that was sent before stays open after a status that retry.statuses names")
    func namedStatusAfterALostAnswer() async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", fails: .connectionReset)
        service.on("POST /v1/jobs", 423)
        service.on("POST /v1/jobs", 201, #"{"id": "j1"}"#)
        let bench = try bench(service, once: #"{ "key": "X-Key" }"#, extra: #""retry": { "statuses": [423] },"#)
        #expect(await bench.resume().tryFailure?.kind == .silent)
        #expect(await bench.resume().tryFailure?.kind == .answered)
        #expect(bench.host.read { $0.record?.phase } == .sending)
        #expect(await bench.resume().isWaiting)
        #expect(Set(service.requests.compactMap { $0.header("X-Key") }).count == 1)
    }

    // MARK: Redirects

    /// It was unknown whether the service had taken it, and nothing said where it belongs.
    @Test("that belongs at another place by 307 or 308 was not taken, and the place is named", arguments: [307, 308])
    func redirected(status: Int) async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", status, headers: ["Location": "/v2/jobs?sig=abc"])
        let bench = try bench(service, once: #"{ "key": "X-Key" }"#)
        let failure = try #require(await bench.resume().tryFailure)
        #expect(failure.kind == .definite)
        #expect(failure.failure.hint == #"it is at http://api.test/v2/jobs: write that, or "redirects": 1 follows it"#)
        #expect(bench.host.read { $0.record?.phase } == .refused)
        #expect(service.lines.count == 1)
    }

    /// It went out five times, and each was redirected.
    @Test(
        "that was redirected otherwise is not sent again in vain, and the place is named",
        arguments: [#"{ "key": "X-Key" }"#, #"{ "resend": true }"#])
    func redirectedOtherwise(once: String) async throws {
        for status in [301, 302, 303] {
            let service = ScriptedService()
            service.on("POST /v1/jobs", status, headers: ["Location": "http://api.test/v1/jobs/"])
            let bench = try bench(service, once: once)
            let reason = try #require(await bench.resume().unknown?.reason)
            #expect(reason.hasPrefix("service 'api' answered \(status) "), "\(reason)")
            #expect(
                reason.hasSuffix(
                    ", and would do so again; it is at http://api.test/v1/jobs/: write that; "
                        + #""redirects": 1 would ask there with GET"#), "\(reason)")
            #expect(service.lines.count == 1)
        }
    }

    @Test("that was redirected is looked for, and sent once more at most")
    func redirectedAndLookedFor() async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", 302, headers: ["Location": "/login"])
        service.on("GET /v1/jobs/by-name/key1", 404)
        let bench = try bench(service, once: name)
        #expect(await bench.resume().isWaiting)
        #expect(await bench.resume().unknown?.reason.contains("it is at http://api.test/login") == true)
        #expect(service.lines.filter { $0.hasPrefix("POST") }.count == 2)
    }

    @Test("is refused for good by any other 4xx", arguments: [400, 401, 403, 404, 422])
    func refused(status: Int) async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", status, #"{"error": {"message": "no such thing"}}"#)
        let bench = try bench(service)
        #expect(await bench.resume().definite?.hasPrefix("service 'api' answered \(status)") == true)
        #expect(bench.host.read { $0.record?.phase } == .refused)
    }

    @Test(
        "without once is unknown when its answer is lost or says nothing",
        arguments: [408, 409, 425, 500, 502, 504, 302])
    func unknown(status: Int) async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", status)
        let bench = try bench(service)
        let unknown = try #require(await bench.resume().unknown)
        #expect(unknown.reason.contains("no \"once\""))
        #expect(bench.host.read { $0.record?.phase } == .unknown)
        #expect(service.lines.count == 1)
    }

    @Test("without once is unknown when the connection is lost after it was made")
    func lost() async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", fails: .connectionReset)
        #expect(try await bench(service).resume().unknown != nil)
    }

    @Test("is unknown when its answer lacks what is captured")
    func captureFails() async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", 201, #"{"name": "j1"}"#)
        let bench = try bench(service)
        #expect(await bench.resume().unknown != nil)
    }

    private static let looked = "GET /v1/jobs/by-name/key1"

    /// A submit that is answered so, of which the look-up by its name finds nothing yet.
    private func notListed(_ status: Int, _ body: String) throws -> (service: ScriptedService, bench: StageBench) {
        let service = ScriptedService()
        service.on("POST /v1/jobs", status, body)
        service.on(Self.looked, 404)
        return (service, try bench(service, once: name))
    }

    /// The service had said that it has it, and got it once more.
    @Test(
        "that the service said to have is not sent again where a look-up finds nothing of it",
        arguments: [#"{"name": "j1"}"#, ""])
    func acceptedAndNotFound(body: String) async throws {
        let (service, bench) = try notListed(201, body)
        #expect(await bench.resume().isWaiting)
        let unknown = try #require(await bench.resume().unknown)
        #expect(unknown.reason == "the service said that it has it, and nothing of it was found")
        #expect(service.lines == ["POST /v1/jobs", Self.looked, Self.looked])
    }

    @Test("that the service said to have is taken from a look-up that lags")
    func acceptedAndFoundLate() async throws {
        let (service, bench) = try notListed(202, "{}")
        #expect(await bench.resume().isWaiting)
        service.reset(Self.looked)
        service.on(Self.looked, 200, #"{"id": "j1", "owner": "key1"}"#)
        #expect(await bench.resume().isWaiting)
        #expect(bench.captures["id"] == "j1")
        #expect(service.lines.count { $0.hasPrefix("POST") } == 1)
    }

    @Test("that a page of somebody else's answered is looked for as one whose answer is lost")
    func pageInstead() async throws {
        let (service, bench) = try notListed(200, "<html>sign in</html>")
        #expect(await bench.resume().isWaiting)
        #expect(service.lines == ["POST /v1/jobs", Self.looked])
    }

    @Test("with onUnknown fail fails instead")
    func onUnknownFails() async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", 500)
        let bench = try bench(service, submit: #""onUnknown": "fail","#)
        #expect(await bench.resume().definite?.contains("it is unknown whether the submit was accepted") == true)
        let looking = ScriptedService()
        looking.on("POST /v1/jobs", 500)
        looking.on("GET /v1/jobs/by-name/key1", 503)
        let other = try self.bench(looking, once: name, submit: #""onUnknown": "fail","#)
        #expect(await other.resume().tryFailure?.openSubmit == nil)
    }

    // MARK: Crashes

    @Test("found in sending after a crash is never sent again blindly")
    func crashWhileSending() async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", 201, #"{"id": "j1"}"#)
        let bench = try bench(service)
        bench.host.read { $0.crashPoint = .submitAnswered }
        guard case .failure(.journal) = await bench.resume() else {
            Issue.record("the crash was not seen")
            return
        }
        bench.host.read { state in
            state.journalFailure = nil
            state.crashPoint = nil
        }
        #expect(await bench.resume().unknown != nil)
        #expect(service.lines.count == 1)
    }

    @Test("found in sending after a crash goes out again with the same key")
    func crashWithKey() async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", 201, #"{"id": "j1"}"#)
        let bench = try bench(service, once: #"{ "key": "Idempotency-Key", "quoted": true }"#)
        bench.host.read { $0.crashPoint = .submitAnswered }
        await bench.resume()
        bench.host.read { state in
            state.journalFailure = nil
            state.crashPoint = nil
        }
        #expect(await bench.resume().isWaiting)
        let keys = service.requests.compactMap { $0.header("Idempotency-Key") }
        #expect(keys.count == 2)
        #expect(keys[0] == keys[1])
        #expect(keys[0].hasPrefix("\"") && keys[0].hasSuffix("\""))
    }

    // MARK: Key

    @Test("with a key is repeated by the engine's policy, not at once")
    func keyResends() async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", 502)
        service.on("POST /v1/jobs", 409)
        service.on("POST /v1/jobs", 200, #"{"id": "j1"}"#)
        let bench = try bench(service, once: #"{ "key": "X-Key" }"#)
        #expect(await bench.resume().tryFailure?.kind == .answered)
        #expect(await bench.resume().tryFailure?.kind == .answered)
        #expect(await bench.resume().isWaiting)
        #expect(bench.captures["id"] == "j1")
        #expect(Set(service.requests.compactMap { $0.header("X-Key") }).count == 1)
    }

    // Other bytes once went out under the key, and the result of the first was taken for that of the second.
    @Test(
        "is not sent again under its key when its file has changed, until that is as it was",
        arguments: [
            #""file": "in.txt","#, #""with": [ { "multipart": { "files": [ { "name": "f", "file": "in.txt" } ] } } ],"#,
        ])
    func changedFile(body: String) async throws {
        let folder = TemporaryFolder()
        try folder.write("in.txt", "old bytes")
        let service = ScriptedService()
        service.on("POST /v1/jobs", fails: .connectionReset)
        service.on("POST /v1/jobs", 201, #"{"id": "j1"}"#)
        let bench = try StageBench(
            """
            { "id": "model", "kind": "compute", "service": "api",
              "submit": { "POST": "/jobs", \(body) "capture": { "id": "$.id" }, "once": { "key": "X-Key" } },
              "poll": { "GET": "/jobs/1", "status": "$.state", "succeeded": ["done"] } }
            """, network: service.network, folders: JobFolders(document: folder.path, output: folder.path))
        #expect(await bench.resume().tryFailure?.kind == .silent)
        try folder.write("in.txt", "new bytes")
        #expect(await bench.resume().definite?.contains("has changed since") == true)
        #expect(service.lines.count == 1)
        try folder.write("in.txt", "old bytes")
        #expect(await bench.resume().isWaiting)
        #expect(bench.captures["id"] == "j1")
    }

    @Test("of which nothing can have arrived is sent with its file as it is")
    func changedFileBeforeSending() async throws {
        let folder = TemporaryFolder()
        try folder.write("in.txt", "old bytes")
        let service = ScriptedService()
        service.on("POST /v1/jobs", 503)
        service.on("POST /v1/jobs", fails: .connectionReset)
        service.on("POST /v1/jobs", 201, #"{"id": "j1"}"#)
        let bench = try StageBench(
            #"""
            { "id": "model", "kind": "compute", "service": "api",
              "submit": { "POST": "/jobs", "file": "in.txt", "capture": { "id": "$.id" }, "once": { "key": "X-Key" } },
              "poll": { "GET": "/jobs/1", "status": "$.state", "succeeded": ["done"] } }
            """#, network: service.network, folders: JobFolders(document: folder.path, output: folder.path))
        #expect(await bench.resume().tryFailure?.kind == .answered)
        try folder.write("in.txt", "new bytes")
        #expect(await bench.resume().tryFailure?.kind == .silent)
        #expect(await bench.resume().isWaiting)
    }

    // A journal of before tells nothing of files, and a secret or a boundary in the body may be another one.
    @Test("is sent again under its key whatever else of its body differs", arguments: ["4711", "files:4711"])
    func otherDigest(digest: String) async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", fails: .connectionReset)
        service.on("POST /v1/jobs", 201, #"{"id": "j1"}"#)
        let bench = try bench(service, once: #"{ "key": "X-Key" }"#)
        #expect(await bench.resume().tryFailure?.kind == .silent)
        bench.host.read { $0.record?.digest = digest }
        #expect(await bench.resume().isWaiting)
    }

    @Test("with a key that is too old is unknown")
    func keyExpires() async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", 502)
        let bench = try bench(service, once: #"{ "key": "X-Key", "valid": "1m" }"#)
        #expect(await bench.resume().tryFailure != nil)
        bench.host.read { $0.now += .seconds(61) }
        let unknown = try #require(await bench.resume().unknown)
        #expect(unknown.reason == "the answer is lost, and the key, sent 1m1s ago, was valid for 1m")
        #expect(service.lines.count == 1)
    }

    @Test("is sent at most as often as retry.attempts says")
    func sendsAreBounded() async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", 502)
        let bench = try bench(service, once: #"{ "key": "X-Key" }"#, extra: #""retry": { "attempts": 2 },"#)
        #expect(await bench.resume().tryFailure != nil)
        #expect(await bench.resume().tryFailure != nil)
        #expect(await bench.resume().unknown != nil)
        #expect(service.lines.count == 2)
    }

    @Test("puts self.key into the body where the author wants it")
    func keyInBody() async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", 201, #"{"id": "j1"}"#)
        let bench = try StageBench(
            """
            { "id": "model", "kind": "compute", "service": "api",
              "submit": { "POST": "/jobs", "json": { "key": "${{ self.key }}" }, "once": { "key": true } } }
            """, network: service.network)
        #expect(await bench.resume().isFinished)
        let key = SubmitName(jobKey: "key1", step: StepKey(stage: "model")).key(ofGeneration: 1)
        #expect(service.requests[0].text == #"{"key":"\#(key)"}"#)
    }

    @Test("with resend goes out again after a lost answer")
    func resend() async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", fails: .connectionReset)
        service.on("POST /v1/jobs", 201, #"{"id": "j2"}"#)
        let bench = try bench(service, once: #"{ "resend": true }"#)
        #expect(await bench.resume().tryFailure?.kind == .silent)
        #expect(await bench.resume().isWaiting)
        #expect(bench.captures["id"] == "j2")
    }

    // MARK: Name

    private let name =
        #"{ "name": { "GET": "/jobs/by-name/${{ job.key }}" }, "ours": "response.body.owner == job.key" }"#

    @Test("found by its name and ours is adopted with the captures of the look-up")
    func nameAdopted() async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", fails: .timedOut(.total))
        service.on("GET /v1/jobs/by-name/key1", 200, #"{"id": "j7", "owner": "key1"}"#)
        let bench = try bench(service, once: name)
        #expect(await bench.resume().isWaiting)
        #expect(bench.captures["id"] == "j7")
        #expect(service.lines == ["POST /v1/jobs", "GET /v1/jobs/by-name/key1"])
    }

    @Test("found by its name and another's is refused")
    func nameTaken() async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", 409)
        service.on("GET /v1/jobs/by-name/key1", 200, #"{"id": "j7", "owner": "somebody"}"#)
        let bench = try bench(service, once: name)
        #expect(await bench.resume().definite?.contains("the name is taken") == true)
    }

    @Test("not found by its name is looked for once more after settle, then sent again")
    func nameMissing() async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", 500)
        service.on("POST /v1/jobs", 201, #"{"id": "j9"}"#)
        service.on("GET /v1/jobs/by-name/key1", 404)
        let bench = try bench(service, once: name)
        #expect(await bench.resume().isWaiting)
        #expect(bench.reason?.kind == .settle)
        #expect(bench.wait == 10)
        #expect(await bench.resume().isWaiting)
        #expect(bench.captures["id"] == "j9")
        #expect(
            service.lines == [
                "POST /v1/jobs", "GET /v1/jobs/by-name/key1", "GET /v1/jobs/by-name/key1", "POST /v1/jobs",
            ])
    }

    @Test("whose look-up is answered with trouble waits, and with a refusal is unknown")
    func lookUpFails() async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", 500)
        service.on("GET /v1/jobs/by-name/key1", 503)
        service.on("GET /v1/jobs/by-name/key1", 403)
        let bench = try bench(service, once: name)
        let failed = try #require(await bench.resume().tryFailure)
        #expect(failed.kind == .answered)
        let told = "it was sent once, and the look-up failed: service 'api' answered 503"
        #expect(failed.openSubmit?.reason.hasPrefix(told) == true)
        let unknown = try #require(await bench.resume().unknown)
        #expect(unknown.reason.contains("the look-up failed: service 'api' answered 403"))
        #expect(service.lines.filter { $0.hasPrefix("POST") }.count == 1)
    }

    /// After a power cut, for longer than a token lives, each job of a batch was unknown.
    @Test("whose look-up is refused is looked for with fresh captures, unless it looks for something else with them")
    func lookUpRenewed() async throws {
        func service() -> ScriptedService {
            let service = ScriptedService()
            service.on("POST /v1/jobs", 500)
            for _ in 0..<2 { service.on("GET /v1/jobs/by-name/key1", 401) }
            service.on("GET /v1/jobs/by-name/key1", 200, #"{"id": "j3", "owner": "key1"}"#)
            return service
        }
        let found = service()
        let renewing = try bench(found, once: name)
        renewing.host.read { $0.source = "login" }
        for _ in 0..<2 {
            let failed = try #require(await renewing.resume().tryFailure)
            #expect(failed.kind == .answered && failed.failure.status == 401)
            #expect(failed.openSubmit?.reason.contains("the look-up failed: service 'api' answered 401") == true)
            #expect(renewing.host.read { $0.record?.phase } == .sending)
        }
        #expect(await renewing.resume().isWaiting)
        #expect(renewing.captures["id"] == "j3")
        #expect(found.lines.count { $0.hasPrefix("POST") } == 1)

        let other = try StageBench(
            #"""
            { "id": "login", "kind": "request", "service": "api", "request": { "POST": "/login", "once": { "resend": true },
              "capture": { "user": "$.user" } } },
            { "id": "model", "kind": "compute", "service": "api",
              "submit": { "POST": "/jobs", "capture": { "id": "$.id" },
                "once": { "name": { "GET": "/jobs/by-name/key1" }, "ours": "response.body.of == stages.login.user" } },
              "poll": { "GET": "/jobs/${{ self.id }}", "status": "$.state", "succeeded": ["done"] } }
            """#, network: service().network, captures: ["login": ["user": "u1"]])
        other.host.read { $0.source = "login" }
        #expect(await other.resume().unknown != nil)
    }

    /// It was sent twice: a page of an error has no job in it.
    @Test(
        "is not taken for missing by the page of a service that is in trouble, or wants other credentials",
        arguments: [401, 403, 408, 425, 429, 500, 501, 503])
    func missingInTrouble(status: Int) async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", fails: .connectionReset)
        service.on("GET /v1/jobs/by-name/key1", status, #"{"error": "starting"}"#)
        let ours = #""ours": "true", "missing": "response.body.job == null""#
        let bench = try bench(service, once: #"{ "name": { "GET": "/jobs/by-name/${{ job.key }}" }, \#(ours) }"#)
        let outcome = await bench.resume()
        #expect(outcome.tryFailure?.kind == .answered || outcome.unknown != nil)
        #expect(service.lines.filter { $0.hasPrefix("POST") }.count == 1)
    }

    @Test("is missing as 'missing' says where that reads the status, whatever it is")
    func missingByStatus() async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", fails: .connectionReset)
        service.on("GET /v1/jobs/by-name/key1", 500, #"{"error": "no such job"}"#)
        let missing = #""ours": "true", "missing": "response.status == 500 && response.body.job == null""#
        let bench = try bench(service, once: #"{ "name": { "GET": "/jobs/by-name/${{ job.key }}" }, \#(missing) }"#)
        #expect(await bench.resume().isWaiting)
        #expect(bench.reason?.kind == .settle)
    }

    @Test("refused at its second send is looked up once more, as a late first one may have won")
    func secondRefusal() async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", fails: .connectionReset)
        service.on("POST /v1/jobs", 422)
        service.on("GET /v1/jobs/by-name/key1", 404)
        service.on("GET /v1/jobs/by-name/key1", 404)
        service.on("GET /v1/jobs/by-name/key1", 200, #"{"id": "j3", "owner": "key1"}"#)
        let bench = try bench(service, once: name)
        #expect(await bench.resume().isWaiting)
        #expect(await bench.resume().isWaiting)
        #expect(bench.captures["id"] == "j3")
    }

    // A refusal of the second send was once believed of the first too: the next attempt sent without a look.
    @Test("refused at its second send and not found is looked for again before it is sent again")
    func secondRefusalNotFound() async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", fails: .connectionReset)
        service.on("POST /v1/jobs", 401)
        for _ in 0..<3 { service.on("GET /v1/jobs/by-name/key1", 404) }
        service.on("GET /v1/jobs/by-name/key1", 200, #"{"id": "j3", "owner": "key1"}"#)
        let bench = try bench(service, once: name)
        #expect(await bench.resume().isWaiting)
        #expect(await bench.resume().definite?.contains("answered 401") == true)
        #expect(bench.host.read { $0.record?.phase } == .sending)
        #expect(await bench.resume().isWaiting)
        #expect(bench.captures["id"] == "j3")
        #expect(service.lines.filter { $0.hasPrefix("POST /v1/jobs") }.count == 2)
    }

    @Test("refused at its second send, with a look-up that is refused too, is unknown")
    func secondRefusalUnsettled() async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", fails: .connectionReset)
        service.on("POST /v1/jobs", 401)
        for _ in 0..<2 { service.on("GET /v1/jobs/by-name/key1", 404) }
        service.on("GET /v1/jobs/by-name/key1", 401)
        let bench = try bench(service, once: name)
        #expect(await bench.resume().isWaiting)
        #expect(await bench.resume().unknown?.reason.contains("the look-up failed: service 'api' answered 401") == true)
        #expect(bench.host.read { $0.record?.phase } == .unknown)
    }

    @Test("refused at its second send is not sent a third time with a key that is too old by then")
    func secondRefusalWithKey() async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", fails: .connectionReset)
        service.on("POST /v1/jobs", 401)
        let bench = try bench(service, once: #"{ "key": "X-Key", "valid": "1m" }"#)
        #expect(await bench.resume().tryFailure?.kind == .silent)
        #expect(await bench.resume().definite?.contains("answered 401") == true)
        bench.host.read { $0.now += .seconds(61) }
        #expect(await bench.resume().unknown?.reason.contains("was valid for 1m") == true)
        #expect(service.lines.count == 2)
    }

    @Test("refused at its second send is sent again with its key while that is valid")
    func secondRefusalMended() async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", fails: .connectionReset)
        service.on("POST /v1/jobs", 401)
        service.on("POST /v1/jobs", 201, #"{"id": "j1"}"#)
        let bench = try bench(service, once: #"{ "key": "X-Key" }"#)
        #expect(await bench.resume().tryFailure?.kind == .silent)
        let refused = try #require(await bench.resume().tryFailure?.failure)
        #expect(refused.hint?.contains("an earlier send of it had no answer and may have been taken") == true)
        #expect(await bench.resume().isWaiting)
        #expect(Set(service.requests.prefix(3).compactMap { $0.header("X-Key") }).count == 1)
    }

    // MARK: Match

    private static func match(_ items: String = "$.data[*]") -> String {
        #"{ "match": { "list": { "GET": "/jobs" }, "items": "\#(items)", "where": "item.tag == job.key" } }"#
    }

    @Test("found in a list is adopted from the entry")
    func matchAdopted() async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", fails: .closedEarly)
        service.on("GET /v1/jobs", 200, #"{"data": [{"id": "a", "tag": "other"}, {"id": "b", "tag": "key1"}]}"#)
        let bench = try bench(service, once: Self.match())
        #expect(await bench.resume().isWaiting)
        #expect(bench.captures["id"] == "b")
    }

    @Test("found in a list is fetched where 'then' says so")
    func matchThen() async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", fails: .closedEarly)
        service.on("GET /v1/jobs", 200, #"{"data": [{"id": "b", "tag": "key1"}]}"#)
        service.on("GET /v1/jobs/b", 200, #"{"id": "b-long"}"#)
        let bench = try bench(
            service,
            once: """
                { "match": { "list": { "GET": "/jobs" }, "items": "$.data[*]", "where": "item.tag == job.key",
                             "then": { "GET": "/jobs/${{ item.id }}" } } }
                """)
        #expect(await bench.resume().isWaiting)
        #expect(bench.captures["id"] == "b-long")
    }

    @Test("found twice in a list is unknown, and not found at all sent again after a second look")
    func matchAmbiguous() async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", fails: .closedEarly)
        service.on("POST /v1/jobs", 201, #"{"id": "n"}"#)
        service.on("GET /v1/jobs", 200, #"{"data": []}"#)
        let bench = try bench(service, once: Self.match())
        #expect(await bench.resume().isWaiting)
        #expect(await bench.resume().isWaiting)
        #expect(bench.captures["id"] == "n")

        let twice = ScriptedService()
        twice.on("POST /v1/jobs", fails: .closedEarly)
        twice.on("GET /v1/jobs", 200, #"{"data": [{"id": "a", "tag": "key1"}, {"id": "b", "tag": "key1"}]}"#)
        #expect(try await self.bench(twice, once: Self.match()).resume().unknown?.reason.contains("2 entries") == true)
    }

    // An error under 200 was once taken for a list without entries, and the job was ordered a second time: first where the
    // list was absent, then beside a null, inside of the list's object, and with selectors that are no JSONPath.
    @Test(
        "looked for on a page without the list is neither found nor absent",
        arguments: [
            ("$.data[*]", #"{"error": {"message": "try again later"}}"#), ("$.data[*]", "[]"),
            ("$.data[*]", #"{"data": "none"}"#), ("$.data[*]", ""), ("$.data[*]", "<html>"),
            ("$.data", #"{"jobs": []}"#), ("$[*]", #"{"error": {"tag": "x"}, "message": "try again later"}"#),
            ("/data", #"{"error": "try again later"}"#), ("/data", "<html>"), ("/data", #"{"message": "try again"}"#),
            ("$.data[*]", #"{"data": null, "error": "try again later"}"#),
            ("$.data[*]", #"{"data": null, "errors": [{"message": "try again later"}]}"#),
            ("$.data[*]", #"{"data": null, "message": "try again later"}"#),
            ("$.data[*]", #"{"data": {"error": "unavailable"}}"#), ("$.data", #"{"data": {"error": {"code": 5}}}"#),
            ("$.data[*]", #"{"data": {"message": "unavailable"}}"#), ("$.data?", #"{"error": "try again later"}"#),
            ("$..job", #"{"errors": [{"message": "try again later"}]}"#), ("text", #"{"error": "try again later"}"#),
            ("xml:/jobs/job", "<Error><Code>SlowDown</Code></Error>"), ("xml:/jobs/job", "none"),
        ])
    func matchWithoutList(items: String, body: String) async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", fails: .closedEarly)
        service.on("GET /v1/jobs", 200, body)
        let bench = try bench(service, once: Self.match(items))
        for _ in 0..<3 { #expect(await bench.resume().tryFailure?.kind == .answered) }
        #expect(service.lines.filter { $0.hasPrefix("POST") }.count == 1)
        #expect(bench.host.read { $0.record?.phase } == .sending)
    }

    @Test(
        "looked for in a list that is empty in the service's own way is absent",
        arguments: [
            ("$.data[*]", #"{"data": null}"#), ("$.data", #"{"data": []}"#), ("$[*]", "null"), ("$[*]", "{}"),
            ("$.data[*]", #"{"data": {}, "message": "none"}"#), ("$.data[?@.tag == 'key1']", #"{"data": []}"#),
            ("$.data[*].runs[*]", #"{"data": []}"#), ("$.data?", #"{"kind": "list"}"#), ("/data", #"{"data": []}"#),
            ("/data", "{}"), ("$.data[*]", #"{"data": [], "errors": [{"message": "of one region"}]}"#),
            ("$.data[*]", #"{"data": null, "error": null, "errors": []}"#),
            ("$.data[*]", #"{"data": null, "error": 0}"#),
            ("$.data", #"{"data": {"title": "one entry", "tag": "other"}}"#), ("xml:/jobs/job", "<jobs/>"),
            ("$.data?", #"{"message": "no jobs"}"#),
        ])
    func matchInEmptyList(items: String, body: String) async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", fails: .closedEarly)
        service.on("POST /v1/jobs", 201, #"{"id": "n"}"#)
        service.on("GET /v1/jobs", 200, body)
        let bench = try bench(service, once: Self.match(items))
        #expect(await bench.resume().isWaiting)
        #expect(bench.reason?.kind == .settle)
        #expect(await bench.resume().isWaiting)
        #expect(bench.captures["id"] == "n")
    }

    // MARK: Rules

    @Test("is refused by a fail rule even when the status is 200")
    func failRule() async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", 200, #"{"errors": ["bad partition"], "id": null}"#)
        let bench = try bench(
            service,
            submit: """
                "fail": [ { "when": "len(response.body.errors) > 0", "message": "slurm says: ${{ response.body.errors[0] }}" } ],
                """)
        #expect(await bench.resume().definite == "slurm says: bad partition")
        #expect(bench.host.read { $0.record?.phase } == .refused)
    }

    @Test("is not accepted by a fail rule that allows a retry")
    func failRuleWithRetry() async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", 200, #"{"busy": true}"#)
        service.on("POST /v1/jobs", 200, #"{"id": "j1"}"#)
        let bench = try bench(
            service, submit: #""fail": [ { "when": "response.body.busy == true", "message": "busy", "retry": true } ],"#
        )
        #expect(await bench.resume().tryFailure?.kind == .answered)
        #expect(bench.host.read { $0.record?.phase } == .intent)
        #expect(await bench.resume().isWaiting)
    }

    @Test("is not begun past the deadline")
    func deadline() async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", 201, #"{"id": "j1"}"#)
        let bench = try bench(service)
        bench.host.read { $0.deadline = $0.now - .seconds(1) }
        #expect(await bench.resume().definite?.contains("did not end before its deadline") == true)
        #expect(service.lines.isEmpty)
    }
}
