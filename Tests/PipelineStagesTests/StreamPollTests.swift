import JSONPath
import NetworkTasks
import PipelineCore
import PipelineHTTP
import PipelineTestKit
import Testing

@Suite("A poll that is a stream of events")
struct StreamPollTests {
    private static let events = """
        "events": { "succeeded": ["complete"], "failed": ["error"], "progress": ["generating"] }
        """
    private static let stream = ["Content-Type": "text/event-stream; charset=utf-8"]

    private func watch(_ network: Network, _ more: String = "", url: String = "http://api.test/v1") throws -> StageBench
    {
        try StageBench(
            """
            { "id": "model", "kind": "compute", "service": "api",
              "poll": { "GET": "/events/7", \(Self.events), "progress": "$.percent",
                        "capture": { "url": "$[0].url" } \(more) } }
            """, network: network, url: url)
    }

    private func bench(_ bodies: [String], _ more: String = "") throws -> (StageBench, ScriptedService) {
        let service = ScriptedService()
        for body in bodies { service.on("GET /v1/events/7", 200, body, headers: Self.stream) }
        return (try watch(service.network, more), service)
    }

    @Test("an event's name is the state, and its data is what captures read")
    func succeeded() async throws {
        let (bench, service) = try bench([
            """
            : hello

            event: heartbeat
            data: null

            event: generating
            data: {"percent": 40}

            event: complete
            data: [{"url":
            data: "http://u"}]


            """
        ])
        #expect(await bench.resume().isFinished)
        #expect(bench.captures["url"] == "http://u")
        #expect(service.requests[0].header("Accept") == "text/event-stream")
        #expect(service.requests[0].header("Last-Event-ID") == nil)
        #expect(service.sentOptions[0].stall == nil)
        #expect(service.sentOptions[0].totalTimeout == nil)
        #expect(service.sentOptions[0].idleTimeout == .seconds(300))
    }

    @Test("an event that means failure says why")
    func failed() async throws {
        let (bench, _) = try bench(["event: error\ndata: {\"message\": \"no memory\"}\n\n"])
        let failure = await bench.resume()
        #expect(failure.definite == "the job failed at service 'api': no memory")
        #expect(failure.tryFailure?.endsRemoteJob == true)
    }

    @Test("'fail' is judged on the event that ends the job")
    func fail() async throws {
        let (bench, _) = try bench(
            ["event: complete\ndata: {\"n\": 0}\n\n"],
            #", "fail": [{ "when": "response.body.n == 0", "message": "nothing came of it" }]"#)
        let failure = await bench.resume()
        #expect(failure.definite == "nothing came of it")
        #expect(failure.tryFailure?.endsRemoteJob == true)
    }

    @Test("a stream that breaks is opened again behind its last event, after the time that it asked for")
    func broken() async throws {
        let (bench, service) = try bench([
            "retry: 250\n\nid: 1\nevent: generating\ndata: {\"percent\": 10}\n\nid: 2\nevent: other\ndata: x\n\nid: 3",
            "id: 9\nevent: generating\ndata: {}\n\n",
            "event: complete\ndata: [{\"url\": \"u\"}]\n\n",
        ])
        #expect(await bench.resume().isWaiting)
        #expect(bench.wait == 0.25)
        #expect(await bench.resume().isWaiting)
        // A stream that says nothing of it is opened again after a second.
        #expect(bench.wait == 1)
        #expect(await bench.resume().isFinished)
        #expect(service.requests.map { $0.header("Last-Event-ID") } == [nil, "2", "9"])
    }

    @Test("a stream that gives nothing is asked ever more seldom, and never ends the stage")
    func empty() async throws {
        let (bench, service) = try bench([""])
        var waits: [Double] = []
        for _ in 0..<6 {
            #expect(await bench.resume().isWaiting)
            waits.append(try #require(bench.wait))
        }
        #expect(waits == waits.sorted() && waits.last! > 8 * waits.first!)
        #expect(bench.reason?.detail?.contains("the stream ended before any event came") == true)
        service.reset("GET /v1/events/7")
        service.on("GET /v1/events/7", fails: .connectionRefused, connectionMade: false)
        #expect(await bench.resume().isWaiting)
    }

    /// It was opened again and again, and 'why' said that no event had come.
    @Test(
        "a stream whose last event is in none of the lists is said to end with it, once",
        arguments: ["", "event: generating\ndata: {\"percent\": 10}\n\n"])
    func unlistedEnd(before: String) async throws {
        let (bench, _) = try bench([
            before + "event: finished\ndata: [{\"url\": \"http://u\"}]\n\n", "event: finished\ndata: []\n\n",
            "event: heartbeat\ndata: x\n\n", "event: complete\ndata: [{\"url\": \"http://u\"}]\n\n",
        ])
        for _ in 0..<3 { #expect(await !bench.resume().isFinished) }
        #expect(await bench.resume().isFinished)
        let warnings = bench.host.read(\.warnings)
        #expect(
            warnings == [
                "the stream ended after the event \"finished\", which is in none of the lists of \"events\", and the job "
                    + "counts as running"
            ])
    }

    @Test("an answer that is no stream is said to be that once, 204 ends the stage, and 404 is believed after a while")
    func noStream() async throws {
        let service = ScriptedService()
        service.on("GET /v1/events/7", 404, "")
        service.on("GET /v1/events/7", 200, "<html>", headers: ["Content-Type": "text/html"])
        service.on("GET /v1/events/7", 200, "<html>", headers: ["Content-Type": "text/html"])
        service.on("GET /v1/events/7", 503, "", headers: ["Retry-After": "7"])
        service.on("GET /v1/events/7", 204, "")
        let bench = try watch(service.network)
        for _ in 0..<3 { #expect(await bench.resume().isWaiting) }
        #expect(
            bench.host.read(\.warnings) == [
                "the answer is no stream of server-sent events (text/event-stream) but text/html; it begins: <html>"
            ])
        #expect(await bench.resume().isWaiting)
        #expect(bench.wait! >= 7)
        let last = await bench.resume()
        #expect(last.definite?.contains("has no more events of the job (204)") == true)
        #expect(last.tryFailure?.endsRemoteJob == false)
    }

    @Test("a stream is opened right after the submit")
    func submit() async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", 200, #"{"event_id": "e1"}"#)
        service.on("GET /v1/events/e1", 200, "event: complete\ndata: []\n\n", headers: Self.stream)
        let bench = try StageBench(
            """
            { "id": "model", "kind": "compute", "service": "api",
              "submit": { "POST": "/jobs", "json": {}, "capture": { "id": "$.event_id" } },
              "poll": { "GET": "/events/${{ self.id }}", \(Self.events) } }
            """, network: service.network)
        #expect(await bench.resume().isWaiting)
        #expect(bench.wait == 0)
        #expect(await bench.resume().isFinished)
    }

    @Test("a stream that its deadline ends is looked at once more, for half a minute at most")
    func deadline() async throws {
        let (bench, service) = try bench(["event: generating\ndata: {}\n\n"])
        let start = bench.host.now
        bench.host.read { $0.deadline = start + .seconds(60) }
        #expect(await bench.resume().isWaiting)
        #expect(service.sentOptions[0].totalTimeout == .seconds(60))
        bench.host.read { $0.now = start + .seconds(61) }
        #expect(await bench.resume().definite != nil)
        #expect(service.sentOptions[1].totalTimeout == .seconds(30))
    }

    @Test("keys that read one answer have no meaning beside events")
    func mistakes() {
        func report(_ poll: String) -> String {
            StageBench.report(#"{ "id": "m", "kind": "compute", "service": "api", "poll": { "GET": "/x", \#(poll) } }"#)
        }
        #expect(report(Self.events) == "")
        #expect(report(#"\#(Self.events), "status": "$.state""#).contains("'status' has no meaning beside 'events'"))
        #expect(report(#"\#(Self.events), "every": "5s""#).contains("'every' has no meaning beside 'events'"))
        #expect(report(#""events": { "failed": ["x"] }"#).contains("does not say when the job has succeeded"))
        #expect(
            report(#""events": { "succeeded": ["x"], "failed": ["x"] }"#).contains(
                #"the event "x" stands in "succeeded" too"#))
    }

    // MARK: Over real connections

    private static func serve(_ pieces: [ScriptedAnswer.Step]) -> ScriptedAnswer {
        ScriptedAnswer([.readBody, .head(200, [("Content-Type", "text/event-stream")])] + pieces)
    }

    @Test("a connection that is reset in the middle of an event loses nothing, and an end is believed at once")
    func reset() async throws {
        let server = try LoopbackServer { request in
            request.number == 1
                ? Self.serve([.bytes(Array("id: 4\nevent: generating\ndata: {}\n\nevent: comp".utf8)), .reset])
                : Self.serve([.bytes(Array("event: complete\ndata: [{\"url\": \"u\"}]\n\n".utf8)), .stall])
        }
        let bench = try watch(Network(transport: CurlTransport()), url: "\(server.url)/v1")
        #expect(await bench.resume().isWaiting)
        // The server never ends this one.
        #expect(await bench.resume().isFinished)
        #expect(server.requests.map { $0.header("Last-Event-ID") } == [nil, "4"])
        server.stop()
    }

    @Test("an event of 100 MB is refused with its bound")
    func large() async throws {
        let server = try LoopbackServer { _ in
            Self.serve([.bytes(Array("event: complete\ndata: ".utf8)), .filled(100_000_000), .close])
        }
        // Byte 10 of each 251 is a line feed: the lines are short, the fields unknown, the event large.
        let bench = try watch(Network(transport: CurlTransport()), url: "\(server.url)/v1")
        let failure = await bench.resume()
        #expect(failure.definite == "service 'api' sent an event or a line of more than 64MiB")
        #expect(failure.tryFailure?.endsRemoteJob == false)
        server.stop()
    }

    @Test("progress is told while the stream is open, and a stream that is cancelled stops")
    func openStream() async throws {
        let server = try LoopbackServer { _ in
            Self.serve([.bytes(Array("event: generating\ndata: {\"percent\": 25}\n\n".utf8)), .stall])
        }
        let bench = try watch(Network(transport: CurlTransport()), url: "\(server.url)/v1")
        let (stage, host) = (bench.stage, bench.host)
        let call = Task { await stage.resume(nil, host) }
        while host.read(\.progress).isEmpty { await Task.yield() }
        #expect(host.read(\.progress).last?.share == 0.25)
        call.cancel()
        guard case .failure(.stopped) = await call.value else {
            Issue.record("not stopped")
            return
        }
        server.stop()
    }

    /// Opens a stream that stays open after what it is given, lets a while pass, and hands over what runs.
    private func open(
        _ text: String,
        then body: (MemoryStageHost, Task<Result<StageOutcome<[UInt8]>, StageFailure>, Never>) async -> Void
    ) async throws -> StageBench {
        let server = try LoopbackServer { _ in Self.serve([.bytes(Array(text.utf8)), .stall]) }
        let bench = try watch(Network(transport: CurlTransport()), url: "\(server.url)/v1")
        let (stage, host) = (bench.stage, bench.host)
        let call = Task { await stage.resume(nil, host) }
        while host.read(\.progress).isEmpty { await Task.yield() }
        await body(host, call)
        call.cancel()
        guard case .failure(.stopped) = await call.value else {
            Issue.record("not stopped")
            return bench
        }
        server.stop()
        return bench
    }

    private static func lastID(_ host: MemoryStageHost) -> String? {
        host.read(\.checkpoint).flatMap { (try? JSON.parse($0))?["stream"]?["lastID"]?.string }
    }

    private static let passedOver = "id: 4\nevent: generating\ndata: {}\n\nid: 5\nevent: other\ndata: x\n\n"

    @Test("the place in a stream is kept while nothing more comes, and of events that are passed over too")
    func keptWhileOpen() async throws {
        _ = try await open(Self.passedOver) { host, _ in
            host.read { $0.now = $0.now + .seconds(2) }
            while Self.lastID(host) == nil { await Task.yield() }
            #expect(Self.lastID(host) == "5")
        }
    }

    @Test("the place in a stream is kept when it is stopped")
    func keptAtStop() async throws {
        let bench = try await open(Self.passedOver) { host, call in
            #expect(Self.lastID(host) == nil)
            call.cancel()
        }
        #expect(["4", "5"].contains(Self.lastID(bench.host)))
    }
}

extension StageProgress {
    /// The share of a remote job.
    fileprivate var share: Double? { if case .remote(let share, _, _) = self { share } else { nil } }
}
