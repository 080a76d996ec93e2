import JSONPath
import PipelineCore
import PipelineHTTP
import PipelineTestKit
import Testing

@Suite("Stages over real connections")
struct LoopbackStageTests {
    private let network = Network(transport: CurlTransport())

    private func bench(_ server: LoopbackServer, _ stage: String) throws -> StageBench {
        try StageBench(
            stage, network: network, secrets: ["T": "sesame-12345"], url: "\(server.url)/v1",
            with: #"[ { "bearer": "${{ secrets.T }}" } ]"#)
    }

    @Test("a job is submitted once and polled to its end")
    func whole() async throws {
        let server = try LoopbackServer { request in
            switch (request.method, request.path) {
            case ("POST", "/v1/models"): .json(#"{"id": "m 1"}"#, status: 201)
            default: .json(request.number < 4 ? #"{"state": "busy"}"# : #"{"state": "done", "url": "/files/1"}"#)
            }
        }
        let bench = try bench(
            server,
            """
            { "id": "model", "kind": "compute", "service": "api",
              "submit": { "POST": "/models", "json": { "q": "x" }, "capture": { "id": "$.id" },
                          "once": { "key": "Idempotency-Key" } },
              "poll": { "GET": "/models/${{ urlencode(self.id) }}", "status": "$.state", "succeeded": ["done"],
                        "capture": { "url": { "select": "$.url", "url": true } } } }
            """)
        #expect(await bench.run().isFinished)
        #expect(bench.captures["url"] == .string("\(server.url)/files/1"))
        #expect(server.requests.map(\.target) == ["/v1/models"] + Array(repeating: "/v1/models/m%201", count: 3))
        #expect(server.requests[0].text == #"{"q":"x"}"#)
        #expect(server.requests.allSatisfy { $0.header("Authorization") == "Bearer sesame-12345" })
        #expect(server.requests[0].header("Idempotency-Key") != nil)
        server.stop()
    }

    // libcurl repeats a request by itself when a reused connection is reset before a byte of the answer
    // (curl/curl#18417): the service would have two jobs.
    @Test("a submit on a connection that is reset after it was read is unknown, and was sent once")
    func reset() async throws {
        let server = try LoopbackServer { request in
            request.method == "POST" ? ScriptedAnswer([.reset]) : .json(#"{"ok": true}"#)
        }
        let warm = try bench(
            server, #"{ "id": "w", "kind": "request", "service": "api", "request": { "GET": "/warm" } }"#)
        #expect(await warm.resume().isFinished)
        let bench = try bench(
            server, #"{ "id": "a", "kind": "compute", "service": "api", "submit": { "POST": "/jobs", "json": {} } }"#)
        let unknown = try #require(await bench.resume().unknown)
        #expect(unknown.reason.contains("no \"once\""))
        #expect(server.requests.filter { $0.method == "POST" }.count == 1)
        #expect(bench.host.read { $0.points }.contains(.submitSent))
        // What was sent counts, though its answer was lost.
        #expect(bench.host.read { $0.moved.sent } == 2)
        server.stop()
    }

    @Test("a submit to nobody goes back to intent")
    func refused() async throws {
        let port = try LoopbackServer.unusedPort()
        let bench = try StageBench(
            #"{ "id": "a", "kind": "compute", "service": "api", "submit": { "POST": "/jobs" } }"#, network: network,
            url: "http://127.0.0.1:\(port)")
        let failed = try #require(await bench.resume().tryFailure)
        #expect(failed.kind == .silent)
        #expect(failed.failure.title == "service 'api' gave no answer: 127.0.0.1:\(port) refused the connection")
        #expect(failed.failure.hint == "is the service running? check the url of service 'api'")
        #expect(bench.host.read { $0.record?.phase } == .intent)
    }

    @Test("credentials do not follow a redirect to another origin")
    func redirect() async throws {
        let server = try LoopbackServer { request in
            request.header("Host")?.hasPrefix("127.0.0.1") == true
                ? .status(
                    302,
                    headers: [
                        ("Location", "http://localhost:\(request.header("Host")!.split(separator: ":")[1])/there")
                    ])
                : .json(#"{"state": "done"}"#)
        }
        let bench = try bench(
            server,
            """
            { "id": "a", "kind": "request", "service": "api",
              "request": { "GET": "/x", "headers": { "X-Sealed": "${{ secrets.T }}", "X-Open": "o" } } }
            """)
        #expect(await bench.resume().isFinished)
        #expect(server.requests.count == 2)
        #expect(server.requests[0].header("X-Sealed") == "sesame-12345")
        #expect(server.requests[1].header("Authorization") == nil)
        #expect(server.requests[1].header("X-Sealed") == nil)
        server.stop()
    }

    @Test("a stage that is cancelled in the middle of a poll stops")
    func cancelled() async throws {
        let server = try LoopbackServer { _ in .silence }
        let bench = try bench(
            server, #"{ "id": "a", "kind": "compute", "service": "api", "poll": { "GET": "/x", "until": "true" } }"#)
        let (stage, host) = (bench.stage, bench.host)
        let call = Task { await stage.resume(nil, host) }
        _ = await server.requests(atLeast: 1)
        call.cancel()
        guard case .failure(.stopped) = await call.value else {
            Issue.record("not stopped")
            return
        }
        server.stop()
    }
}
