import JSONPath
import PipelineCore
import Testing

@Suite("Values out of a callback")
struct CallbackCaptureTests {
    private static let verify = #""verify": { "token": "${{ secrets.T }}" }"#

    private func bench(_ service: ScriptedService, _ more: String) throws -> StageBench {
        let bench = try StageBench(
            """
            { "id": "words", "kind": "compute", "service": "api",
              "submit": { "POST": "/listen", "json": { "callback": "${{ self.callbackURL }}" },
                          "capture": { "id": "$.id" } }, \(more) }
            """, network: service.network, secrets: ["T": "sesame-12345"])
        bench.host.read { $0.scope.callbackURL = "http://us/callbacks/1" }
        return bench
    }

    @Test("a compute without a poll waits for its callback and ends with what that brought")
    func ends() async throws {
        let service = ScriptedService()
        service.on("POST /v1/listen", 200, #"{"id": "7"}"#)
        let bench = try bench(service, #""callback": { \#(Self.verify), "capture": { "text": "$.text" } }"#)
        #expect(await bench.resume().isWaiting)
        #expect(bench.reason?.kind == .callback && bench.wake == nil)
        // One that brought nothing does not end it.
        bench.host.read { $0.callbacks.waiting = 1 }
        #expect(await bench.resume().isWaiting)
        bench.host.read { $0.callbacks = CallbackCount(waiting: 2, captures: ["text": "hello"]) }
        #expect(await bench.resume().isFinished)
        #expect(bench.captures["text"] == "hello" && bench.captures["id"] == "7")
        #expect(service.lines == ["POST /v1/listen"])
    }

    @Test("without a public address nothing is submitted whose result could not arrive")
    func noAddress() async throws {
        let service = ScriptedService()
        let bench = try bench(service, #""callback": { \#(Self.verify), "capture": { "text": "$.text" } }"#)
        bench.host.read { $0.scope.callbackURL = nil }
        #expect(
            await bench.resume().definite
                == "the result comes by a callback alone, and there is no public address for it")
        #expect(service.lines.isEmpty)
    }

    /// The retry waited for a push of the job that was cancelled. One that had ended before may have its result.
    @Test(
        "at its deadline the job is cancelled at the service, and is not waited for again", arguments: [200, 404, 409])
    func deadline(status: Int) async throws {
        let service = ScriptedService()
        service.on("POST /v1/listen", 200, #"{"id": "7"}"#)
        service.on("DELETE /v1/listen/7", status)
        let bench = try bench(
            service,
            #"""
            "callback": { \#(Self.verify), "capture": { "text": "$.text" } },
            "cancel": { "DELETE": "/listen/${{ self.id }}" }
            """#)
        bench.host.read { $0.deadline = $0.now + .seconds(60) }
        #expect(await bench.resume().isWaiting)
        #expect(bench.wait == 60)
        let end = await bench.resume()
        #expect(end.definite != nil && end.tryFailure?.endsRemoteJob == (status != 409))
        #expect(end.tryFailure?.failure.hint?.contains("was cancelled at the service") == (status != 409))
        #expect(service.lines.last == "DELETE /v1/listen/7")
    }

    @Test("beside a poll the values are captures, and the poll decides")
    func besidePoll() async throws {
        let service = ScriptedService()
        service.on("POST /v1/listen", 202, #"{"id": "7"}"#)
        service.on("GET /v1/jobs/7", 200, #"{"state": "busy"}"#)
        service.on("GET /v1/jobs/a", 200, #"{"state": "done", "finished": "2027-01-15T08:00:01.5Z"}"#)
        let bench = try bench(
            service,
            #"""
            "callback": { \#(Self.verify), "capture": { "place": "$.place" } },
            "poll": { "GET": "/jobs/${{ self.place ?? self.id }}", "status": "$.state", "succeeded": ["done"],
                      "ended": "$.finished" }
            """#)
        #expect(await bench.resume().isWaiting)
        #expect(await bench.resume().isWaiting)
        bench.host.read { $0.callbacks = CallbackCount(waiting: 1, captures: ["place": "a"]) }
        #expect(await bench.resume().isFinished)
        #expect(bench.captures["place"] == "a")
        #expect(bench.host.read(\.ended)?.description == "2027-01-15T08:00:01.500Z")
    }

    @Test("the end of a job is read as a time or as seconds, and as nothing else")
    func ended() async throws {
        for (text, milliseconds) in [
            (#""2027-01-15T08:00:00Z""#, 1_800_000_000_000), ("1800000000.25", 1_800_000_000_250),
            (#""1800000000""#, 1_800_000_000_000), (#""soon""#, nil), ("-5", nil), ("1e30", nil), ("null", nil),
        ] as [(String, Int64?)] {
            let service = ScriptedService()
            service.on("GET /v1/x", 200, #"{"state": "done", "end": \#(text)}"#)
            let bench = try StageBench(
                #"""
                { "id": "m", "kind": "compute", "service": "api",
                  "poll": { "GET": "/x", "status": "$.state", "succeeded": ["done"], "ended": "$.end" } }
                """#, network: service.network)
            #expect(await bench.resume().isFinished)
            #expect(bench.host.read(\.ended)?.milliseconds == milliseconds)
        }
    }

    @Test("a wait ends with what its callback brought")
    func wait() async throws {
        let bench = try StageBench(
            #"{ "id": "w", "kind": "wait", "callback": { \#(Self.verify), "capture": { "by": "$.name" } } }"#,
            network: ScriptedService().network)
        bench.host.read { $0.callbacks.waiting = 1 }
        #expect(await bench.resume().isWaiting)
        bench.host.read { $0.callbacks = CallbackCount(waiting: 1, captures: ["by": "Ada"]) }
        #expect(await bench.resume().isFinished)
        #expect(bench.captures["by"] == "Ada")
    }

    @Test("what is taken out of a callback needs a proof, and a callback without poll something to take")
    func mistakes() {
        func report(_ more: String) -> String {
            StageBench.report(
                #"{ "id": "m", "kind": "compute", "service": "api", "submit": { "POST": "/x" }, \#(more) }"#)
        }
        #expect(report(#""callback": { \#(Self.verify), "capture": { "a": "$.a" } }"#) == "")
        #expect(report(#""callback": { "capture": { "a": "$.a" } }"#).contains("must be verified"))
        #expect(report(#""callback": { \#(Self.verify) }"#).contains("there is nothing to ask for the job's end"))
        #expect(
            report(#""callback": { \#(Self.verify), "capture": { "a": "$.a" } }, "capture": { "b": "$.b" }"#)
                .contains("this stage has no 'poll'"))
    }

    /// It "renewed" the same link at once, which was refused again.
    @Test("a compute that ends by its callback alone has no fresh captures to give")
    func renewal() {
        func report(_ more: String) -> String {
            StageBench.report(
                """
                { "id": "m", "kind": "compute", "service": "api", "submit": { "POST": "/x" }, \(more)
                  "callback": { \(Self.verify), "capture": { "url": "$.url" } } },
                { "id": "d", "kind": "download", "service": "api", "request": { "GET": "${{ stages.m.url }}" }, "to": "x",
                  "renew": "m" }
                """)
        }
        #expect(report("").contains("stage 'm' ends by a callback alone, and gives the same captures"))
        let poll = #""poll": { "GET": "/x/1", "status": "$.state", "succeeded": ["done"] },"#
        #expect(report(poll) == "")
    }
}
