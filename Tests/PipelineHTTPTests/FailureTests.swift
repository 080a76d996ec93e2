import HTTPTypes
import NetworkTasks
import PipelineHTTP
import PipelineTestKit
import Testing

@Suite("Failures")
struct FailureTests {
    let network = Network(transport: CurlTransport())

    func failure(
        _ description: RequestDescription, _ options: ExchangeOptions = ExchangeOptions()
    ) async -> ExchangeFailure? {
        await network.task(description, options: options).result.failure
    }

    @Test("a refused connection: nothing can have reached the server")
    func refused() async throws {
        let port = try LoopbackServer.unusedPort()
        let failure = await failure(
            RequestDescription(method: .post, url: "http://127.0.0.1:\(port)/", body: .text("x")))
        #expect(failure?.reason == .connectionRefused)
        #expect(failure?.connectionMade == false)
        #expect(failure?.isRetryable == true)
        #expect(failure?.message.hasPrefix("127.0.0.1:\(port) refused the connection") == true)
    }

    @Test("a name that does not exist")
    func unresolvable() async throws {
        let failure = await failure(
            RequestDescription(url: "http://no-such-host.invalid/"), ExchangeOptions(totalTimeout: .seconds(20)))
        // Without any name server the resolver itself may take too long.
        #expect(failure?.reason == .nameNotResolved || failure?.reason == .timedOut(.total))
        #expect(failure?.connectionMade == false)
    }

    @Test("a reset before the answer: the request may have reached the server")
    func resetBeforeAnswer() async throws {
        let server = try LoopbackServer.beforeBody { _ in ScriptedAnswer([.readBody, .reset]) }
        defer { server.stop() }
        let failure = await failure(RequestDescription(method: .post, url: server.url, body: .text("x")))
        #expect(failure?.reason == .connectionReset)
        #expect(failure?.connectionMade == true)
        #expect(failure?.gotAnswer == false)
        #expect(failure?.requestBytesSent == 1)
        #expect(server.requests.count == 1)
    }

    @Test("a connection that is closed before the answer")
    func closedBeforeAnswer() async throws {
        let server = try LoopbackServer.beforeBody { _ in ScriptedAnswer([.readBody, .close]) }
        defer { server.stop() }
        let failure = await failure(RequestDescription(url: server.url))
        #expect(failure?.reason == .closedEarly)
        #expect(failure?.connectionMade == true)
    }

    @Test("a reset in the middle of the request's body")
    func resetInBody() async throws {
        let server = try LoopbackServer.beforeBody { _ in .reset(afterRequestBytes: 100_000) }
        defer { server.stop() }
        let body = [UInt8](repeating: 0, count: 32 << 20)
        let failure = await failure(RequestDescription(method: .put, url: server.url, body: .bytes(body)))
        #expect(failure?.reason == .connectionReset)
        #expect(failure?.connectionMade == true)
        #expect((failure?.requestBytesSent ?? 0) >= 100_000)
    }

    @Test("an answer that is shorter than it said")
    func truncated() async throws {
        let server = try LoopbackServer { _ in .truncated(1000, after: 10) }
        defer { server.stop() }
        let failure = await failure(RequestDescription(url: server.url))
        #expect(failure?.reason == .closedEarly)
        #expect(failure?.gotAnswer == true)
    }

    @Test("something that is not HTTP")
    func garbage() async throws {
        let server = try LoopbackServer { _ in .garbage }
        defer { server.stop() }
        let failure = await failure(RequestDescription(url: server.url))
        #expect(failure?.reason == .protocolError)
        #expect(failure?.isRetryable == false)
    }

    @Test("a head of a megabyte is refused")
    func hugeHead() async throws {
        let server = try LoopbackServer { _ in
            .status(200, headers: (0..<200).map { ("X-\($0)", String(repeating: "a", count: 6000)) })
        }
        defer { server.stop() }
        let failure = await failure(RequestDescription(url: server.url))
        #expect(failure?.reason == .protocolError, "\(String(describing: failure))")
    }

    @Test("the total limit holds for a server that is silent")
    func totalTimeout() async throws {
        let server = try LoopbackServer { _ in .silence }
        defer { server.stop() }
        let failure = await failure(
            RequestDescription(url: server.url), ExchangeOptions(totalTimeout: .milliseconds(80)))
        #expect(failure?.reason == .timedOut(.total))
        #expect(failure?.connectionMade == true)
    }

    @Test("the idle limit ends a transfer on which nothing moves, in either direction")
    func idleTimeout() async throws {
        let server = try LoopbackServer.beforeBody { request in
            request.method == "GET"
                ? ScriptedAnswer([.head(200, [("Content-Length", "1000")]), .filled(10), .stall])
                : ScriptedAnswer([.stall])
        }
        defer { server.stop() }
        let options = ExchangeOptions(idleTimeout: .milliseconds(700))
        let down = await failure(RequestDescription(url: server.url), options)
        #expect(down?.reason == .timedOut(.idle))
        #expect(down?.gotAnswer == true)
        let body = RequestBody.bytes([UInt8](repeating: 0, count: 32 << 20))
        let up = await failure(RequestDescription(method: .put, url: server.url, body: body), options)
        #expect(up?.reason == .timedOut(.idle))
        #expect(up?.gotAnswer == false)
    }

    @Test("an idle limit does not end what moves, however long it takes")
    func idleTimeoutIsReset() async throws {
        let body = Array("slow body".utf8)
        let server = try LoopbackServer { _ in
            ScriptedAnswer([.head(200, [("Content-Length", "\(body.count)")]), .slowly(body, milliseconds: 150)])
        }
        defer { server.stop() }
        let clock = ContinuousClock()
        let start = clock.now
        let options = ExchangeOptions(idleTimeout: .milliseconds(1000))
        let answer = try await network.exchange(RequestDescription(url: server.url), options: options)
        #expect(answer.body == body)
        #expect(clock.now - start > .milliseconds(1100))
    }

    @Test("a server that takes no connection: the connect limit")
    func connectTimeout() async throws {
        let listener = try DeafListener()
        let failure = await failure(
            RequestDescription(url: "http://127.0.0.1:\(listener.port)/"),
            ExchangeOptions(connectTimeout: .milliseconds(100)))
        #expect(failure?.reason == .timedOut(.connect))
        #expect(failure?.connectionMade == false)
    }

    @Test("libcurl repeats a POST over a kept connection that was reset; a fresh connection never does")
    func silentResend() async throws {
        let server = try LoopbackServer.beforeBody { request in
            // The first request of a connection is answered, a second one there is read and reset.
            request.numberOnConnection == 1 ? .status(200) : ScriptedAnswer([.readBody, .reset])
        }
        defer { server.stop() }
        let post = RequestDescription(method: .post, url: server.url, body: .text("order"))
        _ = try await network.exchange(post)
        let repeated = try await network.exchange(post)
        #expect(repeated.status == 200)
        #expect(server.requests.count == 3)

        let fresh = ExchangeOptions(freshConnection: true)
        _ = try await network.exchange(post, options: fresh)
        #expect(server.requests.count == 4)

        let resetting = try LoopbackServer.beforeBody { _ in ScriptedAnswer([.readBody, .reset]) }
        defer { resetting.stop() }
        let failure = await failure(
            RequestDescription(method: .post, url: resetting.url, body: .text("order")), fresh)
        #expect(failure?.reason == .connectionReset)
        #expect(failure?.connectionMade == true)
        #expect(resetting.requests.count == 1)
    }

    @Test("a streamed body is sent again whole when libcurl repeats a request")
    func resendIsWhole() async throws {
        let server = try LoopbackServer.beforeBody { request in
            request.numberOnConnection == 1 ? .status(200) : ScriptedAnswer([.read(70_000), .reset])
        }
        defer { server.stop() }
        _ = try await network.exchange(RequestDescription(url: server.url))
        let body = (0..<300_000).map { UInt8($0 % 251) }
        let answer = try await network.exchange(RequestDescription(method: .put, url: server.url, body: .bytes(body)))
        #expect(answer.status == 200)
        #expect(server.requests.last?.body == body)
    }

    @Test("a large body of which much was sent is not begun again without a word")
    func largeBodyIsLost() async throws {
        let server = try LoopbackServer.beforeBody { request in
            request.numberOnConnection == 1 ? .status(200) : ScriptedAnswer([.read(20 << 20), .reset])
        }
        defer { server.stop() }
        _ = try await network.exchange(RequestDescription(url: server.url))
        let body = [UInt8](repeating: 7, count: 24 << 20)
        let failure = await failure(
            RequestDescription(method: .put, url: server.url, body: .bytes(body)), ExchangeOptions())
        #expect(failure?.reason == .connectionReset)
        #expect(server.requests.count == 2)
    }

    @Test("an early refusal is heard while the body is still being sent")
    func earlyAnswer() async throws {
        let gate = Gate()
        let server = try LoopbackServer.beforeBody { _ in
            ScriptedAnswer([.read(1000), .send(413, [], Array("too large".utf8)), .wait(gate), .close])
        }
        defer { server.stop() }
        let body = RequestBody.bytes([UInt8](repeating: 0, count: 32 << 20))
        let answer = try await network.exchange(RequestDescription(method: .put, url: server.url, body: body))
        gate.open()
        #expect(answer.status == 413)
        #expect(answer.body == Array("too large".utf8))
        #expect(answer.bytesSent < 32 << 20)
    }

    /// What had taken the first bytes of an upload was believed to have taken it. Where the connection stays open libcurl
    /// goes on to send, and nobody reads.
    @Test("an answer that accepts a body before it was sent is none", arguments: [true, false])
    func acceptedEarly(isClosing: Bool) async throws {
        let gate = Gate()
        let server = try LoopbackServer.beforeBody { _ in
            let fields = isClosing ? [("Connection", "close")] : []
            return ScriptedAnswer([.read(1000), .send(200, fields, Array("log in".utf8)), .wait(gate), .close])
        }
        defer {
            gate.open()
            server.stop()
        }
        let body = RequestBody.bytes([UInt8](repeating: 0, count: 32 << 20))
        let start = ContinuousClock.now
        let failure = await failure(
            RequestDescription(method: .put, url: server.url, body: body),
            ExchangeOptions(idleTimeout: .seconds(10)))
        // Not for as long as nothing may move else.
        #expect(ContinuousClock.now - start < .seconds(9))
        guard case .answeredEarly(let answer)? = failure?.reason else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(answer.status == 200)
        #expect(answer.body == Array("log in".utf8))
        #expect(failure?.isRetryable == true)
        #expect((failure?.requestBytesSent ?? 0) < 32 << 20)
        #expect(failure?.requestBodyLength == 32 << 20)
    }

    @Test("an early answer that says how much of an upload was taken is one")
    func offsetBeforeEnd() async throws {
        let gate = Gate()
        let server = try LoopbackServer.beforeBody { _ in
            let fields = [("Upload-Offset", "1000"), ("Connection", "close")]
            return ScriptedAnswer([.read(1000), .send(204, fields, []), .wait(gate), .close])
        }
        defer {
            gate.open()
            server.stop()
        }
        let body = RequestBody.bytes([UInt8](repeating: 0, count: 32 << 20))
        let answer = try await network.exchange(RequestDescription(method: .patch, url: server.url, body: body))
        #expect(answer.header("Upload-Offset") == "1000")
    }

    @Test("a proxy hears where to, not the credentials; one that refuses has passed nothing on")
    func proxy() async throws {
        let proxy = try LoopbackServer { _ in .status(403) }
        defer { proxy.stop() }
        let request = RequestDescription(method: .post, url: "https://service.test/x", body: .text("secret"))
        let failure = await network.task(
            request, decorators: [Bearer(token: "t")], options: ExchangeOptions(proxy: proxy.url)
        ).result.failure
        #expect(failure?.connectionMade == false)
        #expect(failure?.gotAnswer == false)
        #expect(failure?.reason == .proxy("127.0.0.1:\(proxy.port)", .refused(status: 403)))
        #expect(failure?.isRetryable == false)
        #expect(proxy.requests.map { "\($0.method) \($0.target)" } == ["CONNECT service.test:443"])
        #expect(proxy.requests[0].header("Authorization") == nil)
    }

    /// What a proxy had done was told as the service's doing where both have one host, or the proxy none.
    @Test("a proxy that is not there, or none, is told as such")
    func absentProxy() async throws {
        let server = try LoopbackServer { _ in .status(200) }
        defer { server.stop() }
        let port = try LoopbackServer.unusedPort()
        let cases: [(String, ExchangeFailure.Reason)] = [
            ("http://127.0.0.1:\(port)", .proxy("127.0.0.1:\(port)", .connectionRefused)),
            ("http://a:b@no-such-proxy.invalid:3128/", .proxy("no-such-proxy.invalid:3128", .nameNotResolved)),
            ("ftp://127.0.0.1", .proxy("127.0.0.1", .unsupported)),
        ]
        for (proxy, reason) in cases {
            let failure = await failure(RequestDescription(url: server.url), ExchangeOptions(proxy: proxy))
            // Without any name server the resolver itself may take too long.
            #expect(failure?.reason == reason || failure?.reason == .timedOut(.connect))
            #expect(failure?.connectionMade == false)
        }
        // Its own refusal stays the service's.
        let own = await failure(RequestDescription(url: "http://127.0.0.1:\(port)/"), ExchangeOptions(proxy: ""))
        #expect(own?.reason == .connectionRefused)
        #expect(server.requests.isEmpty)
    }

    @Test(
        "bad requests are refused before anything is sent",
        arguments: [
            "ftp://127.0.0.1/", "/path", "", "http://", "http://127.0.0.1/a b", "http://127.0.0.1/\r\nX: y",
            "http://[bad/",
        ])
    func badURL(url: String) async throws {
        let failure = await failure(RequestDescription(url: url))
        guard case .invalidRequest = failure?.reason else {
            Issue.record("\(url): \(String(describing: failure))")
            return
        }
        #expect(failure?.connectionMade == false)
    }

    @Test("a line break can't get into a header", arguments: ["a\r\nX-Evil: 1", "a\nb", "a\0b"])
    func injection(value: String) async throws {
        let server = try LoopbackServer { _ in .status(200) }
        defer { server.stop() }
        for decorator: any RequestDecorator in [
            Headers([("X-A", value)]), Bearer(token: value), IdempotencyKey(value),
            APIKey(.header("X-Key"), value: value),
            Prefer([value]),
        ] {
            let failure = await network.task(RequestDescription(url: server.url), decorators: [decorator]).result
                .failure
            guard case .invalidRequest = failure?.reason else {
                Issue.record("\(decorator) let it through")
                return
            }
        }
        #expect(server.requests.isEmpty)
        #expect(throws: RequestFailure.self) { try HTTPField.checked(name: "X A", value: "ok") }
    }
}
