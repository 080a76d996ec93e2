import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP
import PipelineTestKit
import Testing

@testable import PipelineStages

/// A form with a secret in it went to another origin without its body, and other bodies went there with theirs.
@Suite("A body that is made from a secret", .timeLimit(.minutes(1)))
struct SecretBodyTests {
    private static let form = #""with": [ { "multipart": { "fields": { "key": "${{ secrets.T }}" } } } ]"#
    static let bodies = [
        #""json": { "client": { "key": "${{ secrets.T }}" } }"#, #""form": { "key": "${{ secrets.T }}" }"#,
        #""text": "key=${{ secrets.T }}""#, form,
    ]

    private func bench(
        _ request: String, _ service: ScriptedService, to url: String = "http://other.test/x", more: String = "",
        with decorators: String = "[]", inputs: JSONObject = [:]
    ) throws -> StageBench {
        try StageBench(
            """
            { "id": "first", "kind": "request", "service": "api",
              "request": { "GET": "/", "capture": { "url": "$.url", "policy": "$.policy" } } },
            { "id": "a", "kind": "request", "service": "api", "request": { \(request) } \(more) }
            """, network: service.network, inputs: inputs, secrets: ["T": "sesame-12345"],
            captures: ["first": ["url": .string(url), "policy": "signed"]], with: decorators,
            secretInputs: Set(inputs.names))
    }

    private func service() -> ScriptedService {
        let service = ScriptedService()
        service.on("POST /x", 200, "{}")
        return service
    }

    @Test("is not sent to a captured URL of another origin: the request fails before it goes out", arguments: bodies)
    func captured(body: String) async throws {
        let service = service()
        let failure = try await bench(#""POST": "${{ stages.first.url }}", \#(body)"#, service).resume().tryFailure
        #expect(failure?.kind == .definite)
        #expect(failure?.failure.title == "the body is made from a secret, which may not go to http://other.test:80")
        #expect(failure?.failure.hint == #""credentials": "any-origin" lets it go there"#)
        #expect(failure?.failure.place?.isEmpty == false)
        #expect(service.requests.isEmpty)
    }

    @Test("goes whole to the service, and with any-origin anywhere", arguments: bodies)
    func allowed(body: String) async throws {
        for (url, more) in [
            ("http://api.test/x", ""), ("http://api.test/x", #", "credentials": "none""#),
            ("http://other.test/x", #", "credentials": "any-origin""#),
        ] {
            let service = service()
            let bench = try bench(#""POST": "${{ stages.first.url }}", \#(body)\#(more)"#, service, to: url)
            #expect(await bench.resume().isFinished)
            #expect(service.requests.map { $0.text.contains("sesame-12345") } == [true], "\(url) \(more)")
        }
    }

    @Test("with none goes nowhere else either")
    func none() async throws {
        let service = service()
        let request = #""POST": "${{ stages.first.url }}", "credentials": "none", \#(Self.form)"#
        let failure = try await bench(request, service).resume().definite
        #expect(failure?.hasPrefix("the body is made from a secret") == true)
        #expect(service.requests.isEmpty)
    }

    @Test("by a decorator of the service does not go to another host, whoever chose that")
    func outerForm() async throws {
        let decorators = #"[ { "multipart": { "fields": { "key": "${{ secrets.T }}" } } } ]"#
        for url in ["${{ stages.first.url }}", "http://other.test/x"] {
            let service = service()
            let bench = try bench("\"POST\": \"\(url)\"", service, with: decorators)
            #expect(await bench.resume().definite?.hasPrefix("the body is made from a secret") == true)
            #expect(service.requests.isEmpty)
            // The form is not used where the request has a body of its own.
            let other = try self.bench("\"POST\": \"\(url)\", \"json\": {}", service, with: decorators)
            #expect(await other.resume().isFinished)
        }
    }

    @Test("is one of a secret input too, and such a header is held back")
    func input() async throws {
        let service = service()
        let request = #""POST": "${{ stages.first.url }}", "json": "#
        let secret = try bench(request + #"{ "key": "${{ inputs.word }}" }"#, service, inputs: ["word": "sesame"])
        #expect(await secret.resume().definite?.hasPrefix("the body is made from a secret") == true)
        let header = try bench(
            request + #"{}, "headers": { "X-Word": "${{ inputs.word }}" }"#, service, inputs: ["word": "sesame"])
        #expect(await header.resume().isFinished)
        #expect(service.requests.map { $0.header("X-Word") } == [nil])
    }

    @Test("is none of what an answer gave: the fields of a signed form go where it says")
    func captures() async throws {
        let service = service()
        let request = #""with": [ { "multipart": { "fields": { "policy": "${{ stages.first.policy }}" } } } ]"#
        #expect(try await bench(#""POST": "${{ stages.first.url }}", \#(request)"#, service).resume().isFinished)
        #expect(service.requests.map { $0.text.contains("signed") } == [true])
    }

    @Test("does not follow a redirect to another origin, and nothing was taken", arguments: [307, 308])
    func redirected(status: Int) async throws {
        let other = try LoopbackServer { _ in .json("{}") }
        let server = try LoopbackServer { _ in .status(status, headers: [("Location", other.url + "/x")]) }
        defer {
            server.stop()
            other.stop()
        }
        let bench = try StageBench(
            """
            { "id": "a", "kind": "request", "service": "api",
              "request": { "POST": "/x", "redirects": 1, "json": { "key": "${{ secrets.T }}" } } }
            """, network: Network(transport: CurlTransport()), secrets: ["T": "sesame-12345"], url: server.url)
        let failure = try #require(await bench.resume().tryFailure)
        #expect(failure.kind == .definite)
        #expect(
            failure.failure.title.hasSuffix(
                " redirected to \(other.url), and the body is made from a secret, which may not go there"))
        #expect(failure.failure.hint == #""credentials": "any-origin" lets it go there"#)
        #expect(failure.failure.service == "api")
        #expect(other.requests.isEmpty)
        #expect(bench.host.read { $0.record?.phase } != .unknown)
    }

    @Test("does not go to a next page of another origin, with none neither")
    func pages() async throws {
        let service = ScriptedService()
        service.on(
            "POST /v1/items", 200, #"{ "data": [1] }"#, headers: ["Link": #"<http://other.test/items>; rel="next""#])
        let bench = try bench(
            #""POST": "/items", "credentials": "none", "json": { "key": "${{ secrets.T }}" }"#, service,
            more: #", "paginate": { "items": "$.data[*]", "next": { "link": "next" } }"#)
        #expect(await bench.resume().definite?.contains("another origin, http://other.test:80") == true)
        #expect(service.requests.count == 1)
    }
}
