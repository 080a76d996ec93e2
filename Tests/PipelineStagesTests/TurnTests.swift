import JSONPath
import NetworkTasks
import PipelineCore
import PipelineHTTP
import PipelineTestKit
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
              "request": { "POST": "/jobs", "once": {}, "capture": { "id": "$.id" } } }
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
        let transport = HeldTransport(
            inner: ScriptedTransport { request, _ in
                HTTPExchangeResponse(status: 200, body: Array(#"{"id": "j1"}"#.utf8), url: request.url)
            })
        let bench = try StageBench(
            #"{ "id": "a", "kind": "request", "service": "api", "request": { "GET": "/jobs" } }"#,
            network: Network(transport: transport),
            with: #"[ { "sigv4": { "region": "r", "service": "s3", "accessKey": "A", "secretKey": "K" } } ]"#,
            limits: #"{ "connections": 1 }"#)
        let host = bench.host
        let began = host.read(\.now)
        let waiting = Task {
            await transport.asked.wait()
            host.read { $0.now = $0.now + .seconds(3600) }
            transport.gate.open()
        }
        #expect(await bench.resume().isFinished)
        await waiting.value
        let signed = try #require(transport.inner.requests.first?.headers[.init("X-Amz-Date")!])
        let later = (began + .seconds(3600)).description.filter { $0 != "-" && $0 != ":" }
        #expect(signed.prefix(13) == later.prefix(13), "\(signed) of \(later)")
    }
}
