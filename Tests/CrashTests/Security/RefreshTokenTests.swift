import CLibrary
import PipelineTestKit
import Synchronization
import Testing

/// An endpoint that gives a new refresh token each time has forgotten the one that was sent: an answer that nobody reads locks
/// a person out.
@Suite("A refresh token that was sent", .timeLimit(.minutes(3)))
struct RefreshTokenTests {
    /// An endpoint that takes each refresh token once, and a service.
    private final class Endpoint: Sendable {
        let isAsked: Gate
        let server: LoopbackServer

        /// - Parameter first: what it does before its first answer.
        init(first: [ScriptedAnswer.Step]) throws {
            let isAsked = Gate()
            self.isAsked = isAsked
            let given = Mutex(0)
            server = try LoopbackServer { request in
                guard request.path == "/token" else { return .json("{}") }
                let (isGood, number) = given.withLock { given in
                    let isGood = request.text.contains("refresh_token=r\(given)&")
                    if isGood { given += 1 }
                    return (isGood, given)
                }
                guard isGood else { return .json(#"{"error":"invalid_grant"}"#, status: 400) }
                let text = "{\"access_token\":\"a\(number)\",\"refresh_token\":\"r\(number)\"}"
                guard number == 1 else { return .json(text) }
                return ScriptedAnswer(
                    [.readBody, .open(isAsked)] + first
                        + [.send(200, [("Content-Type", "application/json")], Array(text.utf8))])
            }
        }

        /// The refresh tokens that it was asked with, in their order.
        var spent: [String] {
            server.requests.filter { $0.path == "/token" }.compactMap { request in
                request.text.split(separator: "&").first { $0.hasPrefix("refresh_token=") }.map(String.init)
            }
        }

        var variables: [String: String] { ["SERVER_URL": server.url, "PIPELINE_SECRET_REFRESH": "r0"] }
    }

    private static let document = """
        { "pipeline": 1, "name": "refresh", "retry": { "attempts": 1 },
          "services": { "api": { "url": "${{ env.SERVER_URL }}", "with": [ { "oauth2": {
            "tokenURL": "${{ env.SERVER_URL }}/token", "clientID": "me",
            "refreshToken": "${{ secrets.REFRESH }}" } } ] } },
          "stages": [ { "id": "a", "kind": "request", "service": "api", "request": { "GET": "/a" } } ] }
        """

    @Test(
        "is waited for by a run that a signal, a pause or a cancellation ends",
        arguments: ["signal", "pause", "cancel"])
    func run(ending: String) async throws {
        let gate = Gate()
        let endpoint = try Endpoint(first: [.wait(gate)])
        defer { endpoint.server.stop() }
        try await withWorkplace { workplace in
            let file = try workplace.write("refresh.json", Self.document)
            let owner = try workplace.start("run", file, environment: endpoint.variables)
            await endpoint.isAsked.wait()
            if ending == "signal" {
                owner.signal(SIGTERM)
            } else {
                _ = try await workplace.run(ending, "last", environment: endpoint.variables)
            }
            #expect(await owner.hasWritten("waits for the answer to a refresh token"))
            gate.open()
            _ = await owner.end
            let more =
                ending == "cancel"
                ? try await workplace.run("run", file, environment: endpoint.variables)
                : try await workplace.run("resume", "last", environment: endpoint.variables)
            #expect(more.cause == .exited(0), "\(more)")
            #expect(endpoint.spent == ["refresh_token=r0", "refresh_token=r1"])
        }
    }

    @Test("is waited for by a background owner, for longer than it takes to end otherwise")
    func background() async throws {
        // Six seconds for two of them.
        let head = ScriptedAnswer.Step.slowly(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8), milliseconds: 120)
        let endpoint = try Endpoint(first: [head, head])
        defer { endpoint.server.stop() }
        try await withBackground { workplace, _, background in
            let file = try workplace.write("refresh.json", Self.document)
            _ = try await workplace.run("run", file, "--detach", environment: endpoint.variables)
            await endpoint.isAsked.wait()
            try await background.end(by: SIGTERM)
            let more = try await workplace.run("resume", "last", environment: endpoint.variables)
            #expect(more.cause == .exited(0), "\(more)")
            #expect(endpoint.spent == ["refresh_token=r0", "refresh_token=r1"])
        }
    }
}
