import Crypto
import Foundation
import JSONPath
import PipelineCore
import PipelineServer
import PipelineTestKit
import Synchronization
import Testing

@testable import PipelineDaemon
@testable import PipelineKit

/// Which pushes are believed to come from their service.
@Suite struct PushProofTests {
    private static let now: Int64 = 1_614_265_330

    private func push(_ headers: [(String, String)], _ body: String, target: String = "/x") -> IncomingRequest {
        IncomingRequest(method: "POST", target: target, headers: headers.map { ($0.0, $0.1) }, body: Array(body.utf8))
    }

    private func standard(_ change: (inout [String: String]) -> Void = { _ in }, body: String? = nil) -> IncomingRequest
    {
        // The example of the specification's reference library.
        var headers = [
            "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp": "\(Self.now)",
            "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
        ]
        change(&headers)
        return push(headers.map { ($0.key, $0.value) }, body ?? #"{"test": 2432232314}"#)
    }

    private let secret = CallbackAuthenticator.standardWebhooks(secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")

    @Test("a Standard Webhooks signature counts, among others too; a changed body, id, time or secret does not")
    func standardWebhooks() {
        #expect(secret.accepts(standard(), now: Self.now))
        #expect(
            secret.accepts(
                standard { $0["webhook-signature"] = "v1,AAAA v1a,BBBB \($0["webhook-signature"]!)" }, now: Self.now))
        #expect(!secret.accepts(standard(body: #"{"test": 2432232315}"#), now: Self.now))
        #expect(!secret.accepts(standard { $0["webhook-id"] = "msg_other" }, now: Self.now))
        #expect(!secret.accepts(standard { $0["webhook-timestamp"] = "\(Self.now + 1)" }, now: Self.now))
        #expect(!secret.accepts(standard { $0["webhook-signature"] = "v1,AAAA" }, now: Self.now))
        #expect(!secret.accepts(standard { $0["webhook-signature"] = nil }, now: Self.now))
        #expect(
            !CallbackAuthenticator.standardWebhooks(secret: "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA").accepts(
                standard(), now: Self.now))
    }

    @Test("nobody is believed where the secret is empty", arguments: ["", "whsec_"])
    func noSecret(secret: String) {
        let code = HMAC<SHA256>.authenticationCode(
            for: Data("msg_1.\(Self.now).{}".utf8), using: SymmetricKey(data: Data()))
        let push = push(
            [
                ("webhook-id", "msg_1"), ("webhook-timestamp", "\(Self.now)"),
                ("webhook-signature", "v1,\(Data(code).base64EncodedString())"),
            ], "{}")
        #expect(!CallbackAuthenticator.standardWebhooks(secret: secret).accepts(push, now: Self.now))
    }

    @Test("what is older or younger than five minutes is not believed")
    func window() {
        for (shift, isFresh) in [(0, true), (300, true), (301, false), (-300, true), (-301, false)] {
            #expect(secret.accepts(standard(), now: Self.now + Int64(shift)) == isFresh, "\(shift)")
        }
        #expect(!secret.accepts(standard { $0["webhook-timestamp"] = "9223372036854775807" }, now: -2))
        #expect(!secret.accepts(standard { $0["webhook-timestamp"] = "soon" }, now: Self.now))
    }

    @Test("a token counts in the place where it is expected, and nowhere else")
    func tokens() {
        let bearer = CallbackAuthenticator.token(value: "s3cret", header: nil, query: nil)
        #expect(bearer.accepts(push([("authorization", "Bearer s3cret")], ""), now: 0))
        for wrong in ["Bearer s3cre", "Bearer s3cret2", "s3cret", "Basic s3cret", ""] {
            #expect(!bearer.accepts(push([("authorization", wrong)], ""), now: 0), "\(wrong)")
        }
        #expect(!bearer.accepts(push([("authorization", "Bearer s3cret"), ("Authorization", "Bearer x")], ""), now: 0))
        let header = CallbackAuthenticator.token(value: "s3cret", header: "X-Hook", query: nil)
        #expect(header.accepts(push([("x-hook", "s3cret")], ""), now: 0))
        let query = CallbackAuthenticator.token(value: "a b", header: nil, query: "key")
        #expect(query.accepts(push([], "", target: "/x?n=1&key=a%20b"), now: 0))
        #expect(!query.accepts(push([], "", target: "/x?key=a%20b&key=c"), now: 0))
        #expect(
            !CallbackAuthenticator.token(value: "", header: nil, query: nil).accepts(
                push([("authorization", "Bearer ")], ""), now: 0))
    }

    @Test("a keyed hash counts in hex and base64, alone, with its name before it, and with a time beside it")
    func signatures() throws {
        let body = "Hello, World!"
        let key = SymmetricKey(data: Data("It's a Secret to Everybody".utf8))
        let code = HMAC<SHA256>.authenticationCode(for: Data(body.utf8), using: key)
        let hex = code.map { String(format: "%02x", $0) }.joined()
        // The example of GitHub's documentation.
        #expect(hex == "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17")
        let plain = try proof(#"{ "secret": "It's a Secret to Everybody", "header": "X-Hub-Signature-256" }"#)
        for text in [hex, "sha256=\(hex)", "sha256=\(hex.uppercased())"] {
            #expect(plain.accepts(push([("X-Hub-Signature-256", text)], body), now: 0), "\(text)")
        }
        #expect(!plain.accepts(push([("X-Hub-Signature-256", hex)], body + " "), now: 0))
        #expect(!plain.accepts(push([("X-Hub-Signature-256", String(hex.dropLast(2)))], body), now: 0))
        let base64 = try proof(
            #"{ "secret": "It's a Secret to Everybody", "header": "S", "encoding": "base64" }"#)
        #expect(base64.accepts(push([("S", Data(code).base64EncodedString())], body), now: 0))
        let timed = try proof(
            #"{ "secret": "It's a Secret to Everybody", "header": "Mux-Signature", "timestamped": true }"#)
        let signed = HMAC<SHA256>.authenticationCode(for: Data("\(Self.now).\(body)".utf8), using: key)
        let value = "t=\(Self.now),v1=\(signed.map { String(format: "%02x", $0) }.joined())"
        #expect(timed.accepts(push([("Mux-Signature", value)], body), now: Self.now + 60))
        #expect(!timed.accepts(push([("Mux-Signature", value)], body), now: Self.now + 600))
    }

    private func proof(_ hmac: String) throws -> CallbackAuthenticator {
        let text = """
            { "pipeline": 1, "name": "x", "stages": [
              { "id": "a", "kind": "hook", "callback": { "verify": { "hmac": \(hmac) } } } ] }
            """
        let kind = StageKind(name: "hook", summary: "Waits.", fields: [CallbackDefinition.field]) { reading in
            let callback = reading.reader.optional(CallbackDefinition.field)
            return AnyStage(
                Idle(), coding: CheckpointCoding(encode: { _ in [] }, decode: { _ in 0 }), callback: callback)
        }
        let plan = try Planner(catalogue: Catalogue(kinds: [kind], checkDecorators: { _, _ in }))
            .plan(SourceText(name: "x.json", text: text))
        guard case .hmac(let definition) = try #require(plan.stage("a")?.stage.callback?.verification) else {
            throw CancellationError()
        }
        return .signature(
            definition, secret: try definition.secret.evaluateText(in: Scope()),
            isTimestamped: try definition.isTimestamped.value(in: Scope()))
    }
}

private struct Idle: Stage {
    func resume(from checkpoint: Int?, in context: StageContext<Int>) async throws(StageFailure) -> StageOutcome<Int> {
        .finished([:])
    }
}

@Suite struct PushRateTests {
    @Test("a step takes so many pushes at once and one a second, and others are not touched")
    func limits() {
        let rate = CallbackRate()
        let start = Timestamp(milliseconds: 1_000_000)
        let step = StepKey(stage: "a")
        let taken = (0..<100).count { _ in rate.takesPush(of: JobID("j"), step, at: start) }
        #expect(taken == 30)
        #expect(!rate.takesPush(of: JobID("j"), step, at: start + .milliseconds(900)))
        #expect(rate.takesPush(of: JobID("j"), step, at: start + .seconds(2)))
        #expect(rate.takesPush(of: JobID("k"), step, at: start))
        #expect((0..<1000).count { _ in rate.takesRequest(at: start) } == 500)
    }

    @Test("addresses to listen on are read in their usual forms")
    func addresses() throws {
        let forms: [(String, String, Int)] = [
            ("8080", "127.0.0.1", 8080), (":8080", "127.0.0.1", 8080), ("0.0.0.0:1", "0.0.0.0", 1),
            ("[::1]:8765", "::1", 8765),
        ]
        for (text, host, port) in forms {
            let address = try ListenAddress(parsing: text)
            #expect(address.host == host && address.port == port)
        }
        for wrong in ["", "x", "localhost", "1.2.3.4:x", ":70000"] {
            #expect(throws: StepFailure.self) { _ = try ListenAddress(parsing: wrong) }
        }
    }

    /// Thousands of requests stood before the readings of all jobs: a worker that took them got nothing done, nor stopped.
    @Test("the jobs of a few requests are read at a time")
    func turns() async {
        let (turns, gate) = (CallbackTurns(), Gate())
        let counts = Mutex((now: 0, most: 0))
        await withTaskGroup(of: Int.self) { group in
            let ask: @Sendable () async -> Int = {
                await turns.take {
                    counts.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                    await gate.wait()
                    counts.withLock { $0.now -= 1 }
                    return 1
                }
            }
            for _ in 0..<20 { group.addTask { await ask() } }
            gate.open()
            #expect(await group.reduce(0, +) == 20)
        }
        #expect((1...4).contains(counts.withLock(\.most)))
        #expect(await turns.take { 2 } == 2)
    }
}
