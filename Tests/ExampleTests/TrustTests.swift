import Foundation
import PipelineTestKit
import Testing

/// What a person reads when a service can't be trusted.
@Suite("A service that can't be trusted", .timeLimit(.minutes(2))) struct TrustTests {
    private func run(_ server: TLSServer, _ tls: String, _ url: String? = nil) async throws -> ProgramEnd {
        let bench = try ExampleBench()
        defer { bench.remove() }
        try """
        { "pipeline": 1, "name": "trust",
          "services": { "vault": { "url": "\(url ?? server.url)", "tls": \(tls) } },
          "stages": [ { "id": "get", "kind": "download", "service": "vault", "request": { "GET": "/x" }, "to": "x" } ] }
        """.write(toFile: bench.folder + "/trust.json", atomically: true, encoding: .utf8)
        return try await BuiltProgram(named: "pipeline").run(
            ["run", "trust.json"], environment: BuiltProgram.environment(home: bench.folder), folder: bench.folder)
    }

    private func expect(_ end: ProgramEnd, _ sentence: String) {
        #expect(end.cause == .exited(1), "\(end)")
        let text = end.output + end.errors
        #expect(text.contains(sentence), "\(text)")
        // The four can be told apart: none of the other sentences stands there.
        for other in Self.sentences where other != sentence { #expect(!text.contains(other), "\(text)") }
    }

    private static let sentences = [
        "has expired", "certificate is not for", "comes from an authority that is not trusted here",
        "is not one of those pinned",
    ]

    @Test("whose certificate has expired is told apart")
    func expired() async throws {
        let server = try await TLSServer.start(isExpired: true)
        expect(try await run(server, "{ \"ca\": \"\(server.certificate)\" }"), "has expired")
    }

    @Test("whose certificate is for another host is told apart")
    func wrongHost() async throws {
        let server = try await TLSServer.start(name: "elsewhere.test")
        expect(try await run(server, "{ \"ca\": \"\(server.certificate)\" }"), "certificate is not for")
    }

    @Test("whose authority is not known is told apart")
    func unknownAuthority() async throws {
        let server = try await TLSServer.start()
        expect(try await run(server, "{}"), "comes from an authority that is not trusted here")
    }

    @Test("whose key is not one of those pinned is told apart, and one of several pins is enough")
    func pinned() async throws {
        let server = try await TLSServer.start()
        let other = "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
        let wrong = "{ \"ca\": \"\(server.certificate)\", \"pinnedPublicKeys\": [ \"\(other)\" ] }"
        expect(try await run(server, wrong), "is not one of those pinned")
        let right =
            "{ \"ca\": \"\(server.certificate)\", \"pinnedPublicKeys\": [ \"\(other)\", \"\(server.pin)\" ] }"
        let end = try await run(server, right)
        #expect(!(end.output + end.errors).contains("pinned"), "\(end)")
    }
}
