import Crypto
import Foundation
import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP
import PipelineTestKit
import Testing

@testable import PipelineNotifier

@Suite("Notifications over HTTP", .timeLimit(.minutes(2)))
struct WebhookTests {
    private let bench: SinkBench

    init() throws { bench = try SinkBench() }

    @Test("a webhook brings the notification, signed so that a receiver can verify it by the published rules")
    func signed() async throws {
        let server = try LoopbackServer { _ in .status(204) }
        defer { server.stop() }
        let key = Data((0..<24).map { UInt8($0) })
        let failure = try await bench.deliver(
            #""webhook": { "POST": "\#(server.url)/hook", "sign": "${{ secrets.HOOK }}" }"#,
            secrets: ["HOOK": "whsec_\(key.base64EncodedString())"])
        #expect(failure == nil)
        let request = try #require(server.requests.first)
        #expect(try JSON.parse(request.body) == SinkBench.notification.json)
        #expect(request.header("Content-Type") == "application/json")
        let id = try #require(request.header("webhook-id"))
        let time = try #require(request.header("webhook-timestamp"))
        #expect(id == SinkBench.notification.id)
        #expect(time == "1800000000")
        let signature = try #require(request.header("webhook-signature"))
        let code = try #require(Data(base64Encoded: String(signature.dropFirst(3))))
        #expect(signature.hasPrefix("v1,"))
        let signed = Data("\(id).\(time).".utf8) + Data(request.body)
        #expect(
            HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: signed, using: SymmetricKey(data: key)))
    }

    @Test("the example that libraries of Standard Webhooks are tested with has the signature that they expect")
    func example() {
        // https://github.com/standard-webhooks/standard-webhooks, libraries/go/webhook_test.go.
        let signature = StandardWebhook(secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").signature(
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek", seconds: 1_614_265_330, body: Array(#"{"test": 2432232314}"#.utf8))
        #expect(signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    }

    @Test("a body of the author's is signed instead, with a secret of any form")
    func ownBody() async throws {
        let server = try LoopbackServer { _ in .status(200) }
        defer { server.stop() }
        let failure = try await bench.deliver(
            #""webhook": { "POST": "\#(server.url)", "sign": "plain secret", "json": { "a": "${{ 1 + 1 }}" } }"#)
        #expect(failure == nil)
        let request = try #require(server.requests.first)
        #expect(String(decoding: request.body, as: UTF8.self) == #"{"a":2}"#)
        let signed = Data("\(SinkBench.notification.id).1800000000.{\"a\":2}".utf8)
        let key = SymmetricKey(data: Data("plain secret".utf8))
        let expected = Data(HMAC<SHA256>.authenticationCode(for: signed, using: key)).base64EncodedString()
        #expect(request.header("webhook-signature") == "v1,\(expected)")
    }

    /// What comes behind a success was waited for, and the receiver called again when it was long or cut.
    @Test("is taken with a success, whatever body comes behind it", arguments: ["long", "cut", "cut at once"])
    func successWithBody(_ how: String) async throws {
        let server = try LoopbackServer { _ in
            let head = ScriptedAnswer.Step.head(200, [("Content-Length", "1000000")])
            let body = [UInt8](repeating: 0x61, count: 1000)
            switch how {
            case "long": return .status(200, body: String(repeating: "a", count: 1_000_000))
            case "cut": return ScriptedAnswer([head, .bytes(body), .reset])
            default: return ScriptedAnswer([head, .reset])
            }
        }
        defer { server.stop() }
        let failure = try await bench.deliver(#""webhook": { "POST": "\#(server.url)/hook" }"#)
        #expect(failure == nil)
        #expect(server.requests.count == 1)
    }

    @Test(
        "says what a refusal says at its start, however long that is, and whether or not it comes whole",
        arguments: [true, false])
    func longRefusal(isCut: Bool) async throws {
        let body = "no such room" + String(repeating: " a", count: 500_000)
        let server = try LoopbackServer { _ in
            guard isCut else { return .status(400, body: body) }
            let head = ScriptedAnswer.Step.head(400, [("Content-Length", "1000000")])
            return ScriptedAnswer([head, .bytes(Array("no such room".utf8)), .close])
        }
        defer { server.stop() }
        let failure = try #require(try await bench.deliver(#""webhook": { "POST": "\#(server.url)/hook" }"#))
        #expect(failure.message.contains("answered 400: no such room"))
        #expect(!failure.isRetryable)
    }

    @Test("its method, query and headers are the author's; null leaves one out")
    func shape() async throws {
        let server = try LoopbackServer { _ in .status(200) }
        defer { server.stop() }
        let failure = try await bench.deliver(
            #"""
            "webhook": { "PUT": "\#(server.url)/a", "query": { "q": ["1", "2"], "n": null },
                         "headers": { "X-Job": "${{ 'j' + 'ob' }}" } }
            """#)
        #expect(failure == nil)
        let request = try #require(server.requests.first)
        #expect(request.method == "PUT")
        #expect(request.target == "/a?q=1&q=2")
        #expect(request.header("X-Job") == "job")
        #expect(request.header("webhook-signature") == nil)
    }

    @Test(
        "an answer that may be another one later is worth another try, a refusal is not",
        arguments: [
            (500, true), (503, true), (429, true), (400, false), (404, false), (410, false), (301, false),
        ])
    func refused(status: Int, isRetryable: Bool) async throws {
        let server = try LoopbackServer { _ in .status(status, body: "not now") }
        defer { server.stop() }
        let failure = try #require(try await bench.deliver(#""webhook": { "POST": "\#(server.url)/hook" }"#))
        #expect(failure.isRetryable == isRetryable)
        #expect(failure.message == "127.0.0.1:\(server.port) answered \(status): not now")
    }

    @Test("nobody there is worth another try; a missing secret too, a wrong value is not")
    func unreachable() async throws {
        let port = try LoopbackServer.unusedPort()
        let gone = try await bench.deliver(#""webhook": { "POST": "http://127.0.0.1:\#(port)/" }"#)
        #expect(gone?.isRetryable == true)
        let missing = try await bench.deliver(
            #""webhook": { "POST": "http://127.0.0.1:\#(port)/", "sign": "${{ secrets.HOOK }}" }"#)
        #expect(missing?.message == "the secret HOOK is not set")
        #expect(missing?.isRetryable == true)
        let wrong = try await bench.deliver(#""webhook": { "POST": "${{ 'a' + null }}" }"#)
        #expect(wrong?.isRetryable == false)
    }

    @Test("a webhook that does not answer in its time is given up, and worth another try")
    func slow() async throws {
        let gate = Gate()
        let server = try LoopbackServer { _ in ScriptedAnswer([.wait(gate)]) }
        defer { server.stop() }
        let failure = try await bench.deliver(
            #""webhook": { "POST": "\#(server.url)", "timeout": "200ms" }"#)
        gate.open()
        #expect(failure?.isRetryable == true)
    }

    /// It was given up for good when `run` ended before its receiver had answered.
    @Test("a webhook whose delivery is cut off is worth another try")
    func cutOff() async throws {
        let gate = Gate()
        let (asked, ask) = AsyncStream<Void>.makeStream()
        let server = try LoopbackServer { _ in
            ask.yield()
            return ScriptedAnswer([.wait(gate)])
        }
        defer { server.stop() }
        let task = Task { [bench] in try await bench.deliver(#""webhook": { "POST": "\#(server.url)" }"#) }
        _ = await asked.first { _ in true }
        task.cancel()
        let failure = try await task.value
        gate.open()
        #expect(failure?.isRetryable == true && failure?.message == "the receiver had not answered yet")
    }

    @Test("ntfy gets the topic, the title and the priority as JSON")
    func ntfy() async throws {
        let server = try LoopbackServer { _ in .status(200) }
        defer { server.stop() }
        let failure = try await bench.deliver(
            #""ntfy": { "url": "\#(server.url)", "topic": "jobs", "priority": 4 }"#)
        #expect(failure == nil)
        let request = try #require(server.requests.first)
        let message = try JSON.parse(request.body)
        #expect(request.method == "POST")
        #expect(message["topic"] == "jobs")
        #expect(message["title"] == "selfie »fertig«")
        #expect(message["priority"] == 4)
        #expect(message["message"]?.string?.contains("01jd3v5k8w9x0y1z2a3b4c5d6e") == true)
    }
}
