import Foundation
import HTTPTypes
import JSONPath
import PipelineTestKit
import Synchronization
import Testing

/// Many items, limits of the service, and a token that lives less long than the line is.
@Suite("A batch whose token expires")
struct ExpiringTokenTests {
    /// Gives tokens that are good for a while, and counts.
    private final class Service: Sendable {
        private struct State {
            var tokens: [String: ContinuousClock.Instant] = [:]
            var counts: [String: Int] = [:]
            var isLocked = false
        }

        private let state = Mutex(State())
        private let life: Duration

        init(life: Duration) { self.life = life }

        func count(_ name: String) -> Int { state.withLock { $0.counts[name] ?? 0 } }
        func lock(_ isLocked: Bool) { state.withLock { $0.isLocked = isLocked } }

        func answer(_ request: ReceivedRequest) -> ScriptedAnswer {
            let folder = String(request.path.split(separator: "/").first ?? "")
            let name = folder == "jobs" && request.method == "GET" ? "polls" : folder
            let (number, isLocked) = state.withLock { state in
                state.counts[name, default: 0] += 1
                return (state.counts[name] ?? 0, state.isLocked)
            }
            if name == "login" {
                if isLocked { return .json(#"{"error": "the account is locked"}"#, status: 423) }
                state.withLock { $0.tokens["Bearer t\(number)"] = .now + life }
                return .json(#"{"token": "t\#(number)"}"#)
            }
            let end = state.withLock { $0.tokens[request.headers[.authorization] ?? ""] }
            guard let end, .now < end else {
                state.withLock { $0.counts["refused", default: 0] += 1 }
                return .json(#"{"error": "the token is over"}"#, status: 401)
            }
            switch name {
            case "jobs", "polls": return .json(#"{"id": "j\#(number)", "state": "done"}"#)
            default: return .json("{}")
            }
        }
    }

    private func document(_ limits: String, wait: String = "") -> String {
        """
        { "pipeline": 1, "name": "talks", "inputs": { "file": { "type": "string" } },
          "batch": { "key": "${{ inputs.file }}" },
          "services": { "api": { "url": "${{ env.API_URL }}"\(limits) } },
          "stages": [
            { "id": "login", "kind": "request", "service": "api", "expires": { "in": 1 },
              "request": { "POST": "/login", "once": { "resend": true }, "capture": { "token": "$.token" } } },
            { "id": "send", "kind": "request", "service": "api", "renew": "login",
              "with": [ { "bearer": "${{ stages.login.token }}" } ],
              "request": { "PUT": "/files/${{ inputs.file }}", "json": {} } },
            { "id": "work", "kind": "compute", "service": "api", "renew": "login", "cost": "0.5",
              "with": [ { "bearer": "${{ stages.login.token }}" } ],
              "submit": { "POST": "/jobs", "capture": { "id": "$.id" }, "once": { "key": "Idempotency-Key" } },
              "poll": { "GET": "/jobs/${{ self.id }}", "status": "$.state", "succeeded": ["done"] } }\(wait),
            { "id": "get", "kind": "request", "service": "api", "renew": "login",
              "with": [ { "bearer": "${{ stages.login.token }}" } ], "request": { "GET": "/results" } } ] }
        """
    }

    /// An interim response that takes so long.
    private static let tenthOfASecond = ScriptedAnswer.Step.slowly(
        Array("HTTP/1.1 100 Continue\r\n\r\n".utf8), milliseconds: 4)

    /// All of them failed, and whatever they sent was refused.
    @Test("in a line that is longer than it lives does every item, each job once", arguments: [10, nil] as [Int?])
    func line(rate: Int?) async throws {
        try await withWorkplace { workplace in
            let service = Service(life: .seconds(3))
            let server = try LoopbackServer { request in
                var answer = service.answer(request)
                if rate == nil { answer.steps.insert(Self.tenthOfASecond, at: 1) }
                return answer
            }
            defer { server.stop() }
            let limits = rate.map { #", "limits": { "requestsPerSecond": \#($0) }"# }
            try workplace.write("talks.json", document(limits ?? #", "limits": { "connections": 1 }"#))
            try workplace.write("rows.csv", "file\n" + (1...15).map { "talk-\($0)\n" }.joined())
            let end = try await workplace.run(
                "run", "talks.json", "--each", "rows.csv", "--batch", "june", environment: ["API_URL": server.url])
            #expect(end.cause == .exited(0) && end.errors.contains("june: 15/15 succeeded"), "\(end)")
            #expect(service.count("files") == 15 && service.count("jobs") == 15 && service.count("results") == 15)
            #expect(service.count("login") > 15 && service.count("refused") == 0)
        }
    }

    /// Files were sent again, and finished jobs ordered and paid for once more, under new keys.
    @Test("whose account is locked when a fresh one is needed goes on once it is not, and orders nothing again")
    func locked() async throws {
        try await withWorkplace { workplace in
            let service = Service(life: .seconds(60))
            let server = try LoopbackServer { request in
                if request.path == "/jobs" { service.lock(true) }
                return service.answer(request)
            }
            defer { server.stop() }
            let wait = #", { "id": "pause", "kind": "wait", "for": "2s" }"#
            try workplace.write("talks.json", document("", wait: wait))
            let environment = ["API_URL": server.url]
            let end = try await workplace.run(
                "run", "talks.json", "-i", "file=a", "--key", "k", environment: environment)
            #expect(end.cause == .exited(1) && end.errors.contains("stage 'login' failed"), "\(end)")
            for verb in ["resume", "retry"] {
                service.lock(verb == "resume")
                let again = try await workplace.run(verb, "k", environment: environment)
                #expect(again.cause == .exited(verb == "resume" ? 1 : 0), "\(again)")
            }
            #expect(service.count("files") == 1 && service.count("jobs") == 1 && service.count("results") == 1)
            #expect(try await workplace.show("k")["cost"]?.number?.double == 0.5)
        }
    }
}
