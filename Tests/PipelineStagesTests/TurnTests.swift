import JSONPath
import NetworkTasks
import PipelineCore
import PipelineHTTP
import PipelineTestKit
import Synchronization
import Testing

/// What waits for its turn at a service is not under way, and is signed when it goes.
@Suite("A turn at a service")
struct TurnTests {
    /// Gives turns when the gate is open.
    private struct HeldTransport: Transport {
        let inner: ScriptedTransport
        let asked = Gate()
        let gate = Gate()

        func start(_ request: RequestDescription, options: ExchangeOptions) -> ExchangeTask {
            #expect(options.turn != nil)
            return inner.start(request, options: options)
        }

        func turn(at url: String, _ limits: ServiceLimits) async throws(ExchangeFailure) -> ServiceTurn? {
            #expect(limits.connections == 1)
            asked.open()
            await gate.wait()
            return ServiceTurn {}
        }
    }

    @Test("a submit that waits for it is not noted as sending: a crash then leaves no doubt")
    func submit() async throws {
        let transport = HeldTransport(
            inner: ScriptedTransport { request, _ in
                HTTPExchangeResponse(status: 200, body: Array(#"{"id": "j1"}"#.utf8), url: request.url)
            })
        let bench = try StageBench(
            #"""
            { "id": "a", "kind": "request", "service": "api",
              "request": { "POST": "/jobs", "once": { "resend": true }, "capture": { "id": "$.id" } } }
            """#, network: Network(transport: transport), limits: #"{ "connections": 1 }"#)
        let host = bench.host
        let waiting = Task {
            await transport.asked.wait()
            #expect(host.read(\.record)?.phase == .intent)
            #expect(transport.inner.requests.isEmpty)
            transport.gate.open()
        }
        #expect(await bench.resume().isFinished)
        await waiting.value
        #expect(host.read(\.record)?.phase == .submitted)
        #expect(transport.inner.requests.count == 1)
    }

    @Test("a request is signed when it has come")
    func signature() async throws {
        let time = Mutex(Duration.zero)
        let transport = HeldTransport(
            inner: ScriptedTransport { request, _ in
                HTTPExchangeResponse(status: 200, body: Array(#"{"id": "j1"}"#.utf8), url: request.url)
            })
        let bench = try StageBench(
            #"{ "id": "a", "kind": "request", "service": "api", "request": { "GET": "/jobs" } }"#,
            network: Network(transport: transport, context: DecorationContext(time: { time.withLock { $0 } })),
            with: #"[ { "sigv4": { "region": "r", "service": "s3", "accessKey": "A", "secretKey": "K" } } ]"#,
            limits: #"{ "connections": 1 }"#)
        let waiting = Task {
            await transport.asked.wait()
            time.withLock { $0 = .seconds(3600) }
            transport.gate.open()
        }
        #expect(await bench.resume().isFinished)
        await waiting.value
        #expect(transport.inner.requests.first?.headers[.init("X-Amz-Date")!] == "19700101T010000Z")
    }

    @Test("a submit whose token is fetched is not noted as sending either")
    func token() async throws {
        let phase = Mutex<SubmitRecord.Phase?>(nil)
        let host = Mutex<MemoryStageHost?>(nil)
        let service = ScriptedTransport { request, _ in
            if request.url.hasSuffix("/token") {
                phase.withLock { $0 = host.withLock { $0?.read(\.record)?.phase } }
                return HTTPExchangeResponse(status: 200, body: Array(#"{"access_token": "t1"}"#.utf8), url: request.url)
            }
            return HTTPExchangeResponse(status: 200, body: Array(#"{"id": "j1"}"#.utf8), url: request.url)
        }
        let bench = try StageBench(
            #"""
            { "id": "a", "kind": "request", "service": "api",
              "request": { "POST": "/jobs", "once": { "resend": true }, "capture": { "id": "$.id" } } }
            """#, network: Network(transport: AuthorizingTransport(service)),
            with: #"[ { "oauth2": { "tokenURL": "http://a.test/token", "clientID": "c", "clientSecret": "s" } } ]"#)
        host.withLock { $0 = bench.host }
        #expect(await bench.resume().isFinished)
        #expect(phase.withLock(\.self) == .intent)
        #expect(service.requests.map { String($0.url.split(separator: "/").last ?? "") } == ["token", "jobs"])
        #expect(service.requests.last?.headers[.authorization] == "Bearer t1")
    }

    private static let login = """
        { "id": "login", "kind": "request", "service": "api",
          "request": { "GET": "/login", "capture": { "token": "$.token" } } },
        """

    private static let token = "${{ stages.login.token }}"
    private static let status = #""status": "$.state", "succeeded": ["done"]"#

    private static let waiting: [(String, Bool)] = [
        (#""kind": "request", "request": { "GET": "/jobs", "headers": { "X-Token": "\#(token)" } }"#, true),
        (#""kind": "request", "with": [ { "bearer": "\#(token)" } ], "request": { "GET": "/jobs" }"#, true),
        (#""kind": "request", "request": { "POST": "/jobs", "json": "\#(token)", "once": { "resend": true } }"#, true),
        (#""kind": "compute", "poll": { "GET": "/jobs/\#(token)", \#(status) }"#, true),
        (#""kind": "compute", "poll": { "GET": "/jobs/7", \#(status) }"#, false),
        (#""kind": "request", "request": { "GET": "/jobs" }"#, false),
    ]

    /// Sixty items with a token of twenty seconds and two requests a second: all were refused, and failed for good.
    @Test("what it reads may expire meanwhile: then nothing is sent, and it is renewed", arguments: waiting)
    func expired(stage: String, reads: Bool) async throws {
        let transport = HeldTransport(
            inner: ScriptedTransport { request, _ in
                HTTPExchangeResponse(status: 200, body: Array(#"{"state": "done"}"#.utf8), url: request.url)
            })
        let bench = try StageBench(
            #"\#(Self.login) { "id": "a", "service": "api", "renew": "login", \#(stage) }"#,
            network: Network(transport: transport), captures: ["login": ["token": "t1"]],
            limits: #"{ "connections": 1 }"#)
        let (host, start) = (bench.host, bench.host.now)
        host.read { state in
            state.renewed = StepExpiry(
                holder: StepKey(stage: "login"), since: start, time: start + .seconds(20))
        }
        let waiting = Task {
            await transport.asked.wait()
            host.read { $0.now = start + .seconds(20) }
            transport.gate.open()
        }
        let end = await bench.resume()
        await waiting.value
        #expect(transport.inner.requests.count == (reads ? 0 : 1))
        if reads {
            let failed = try #require(end.tryFailure)
            #expect(failed.kind == .held(.renewal) && failed.failure.status == nil)
            #expect(failed.failure.title.hasPrefix("what stage 'login' captured expired at "), "\(failed)")
            #expect(host.read(\.polls).isEmpty && host.read(\.record)?.phase ?? .intent == .intent)
        } else {
            #expect(end.isFinished)
        }
    }

    /// Each renewal gives another id, with which the walk begins at its first page: one that takes longer never ended.
    @Test(
        "an id that expires amid a walk over pages does not end that; a token is renewed", arguments: [true, false])
    func pages(isToken: Bool) async throws {
        let host = Mutex<MemoryStageHost?>(nil)
        let service = ScriptedTransport { request, _ in
            host.withLock { $0?.read { $0.now += .seconds(2) } }
            let isFirst = !request.url.contains("page=2")
            let text = isFirst ? #"{"items": [1], "next": "/v1/jobs?page=2"}"# : #"{"items": [2]}"#
            return HTTPExchangeResponse(status: 200, body: Array(text.utf8), url: request.url)
        }
        let request =
            isToken
            ? #""with": [ { "bearer": "\#(Self.token)" } ], "request": { "GET": "/jobs" }"#
            : #""request": { "GET": "/jobs/\#(Self.token)" }"#
        let bench = try StageBench(
            #"""
            \#(Self.login) { "id": "a", "kind": "request", "service": "api", "renew": "login", \#(request),
              "paginate": { "items": "$.items[*]", "next": { "url": "$.next" } } }
            """#, network: Network(transport: service), captures: ["login": ["token": "t1"]])
        host.withLock { $0 = bench.host }
        let start = bench.host.now
        let expiry = StepExpiry(holder: StepKey(stage: "login"), since: start, time: start + .seconds(1))
        bench.host.read { $0.renewed = expiry }
        let end = await bench.resume()
        #expect(isToken ? end.tryFailure?.kind == .held(.renewal) : end.isFinished, "\(end)")
        #expect(service.requests.count == (isToken ? 1 : 2))
    }
}
