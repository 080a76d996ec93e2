import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP
import PipelineTestKit
import Testing

@Suite("A file of JSON Lines in a request")
struct JSONLinesBodyTests {
    private let folder: TemporaryFolder

    init() { folder = TemporaryFolder() }

    private func bench(
        _ network: Network, url: String, json: String = #"{ "requests": "${{ jsonLines('a.jsonl') }}", "n": 1 }"#
    )
        throws -> StageBench
    {
        try StageBench(
            #"{ "id": "a", "kind": "request", "service": "api", "request": { "POST": "/batches", "json": \#(json) } }"#,
            network: network, url: url, folders: JobFolders(document: folder.path, output: folder.path))
    }

    @Test(
        "is sent as an array, exactly as long as was said, whatever stands between the lines",
        arguments: [
            ("{\"a\":1}\n{\"b\":[2]}\n", #"{"a":1},{"b":[2]}"#), ("1\r\n\r\n  2  \n\n3", "1,2,3"), ("", ""),
            ("\n\n", ""),
            ("\"ü\"", "\"ü\""), ("\u{FEFF}1\n \t\n\u{FEFF}2", "1,2"),
        ])
    func sent(content: String, inside: String) async throws {
        try folder.write("a.jsonl", content)
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        let bench = try bench(Network(transport: CurlTransport()), url: server.url)
        #expect(await bench.resume().isFinished)
        let request = try #require(server.requests.first)
        #expect(request.text == "{\"requests\":[\(inside)],\"n\":1}")
        #expect(request.contentLength == Int64(request.body.count))
        #expect(request.header("Content-Type") == "application/json")
    }

    @Test("a line that is no JSON is told by its number before anything is sent")
    func wrongLine() async throws {
        try folder.write("a.jsonl", "{}\n\n{]\n")
        let service = ScriptedService()
        let bench = try bench(service.network, url: "http://api.test")
        let title = await bench.resume().definite ?? ""
        #expect(title.contains("a.jsonl: line 3 is not JSON"))
        #expect(service.requests.isEmpty)
    }

    @Test("a file that is not there is told so")
    func missing() async throws {
        let service = ScriptedService()
        let bench = try bench(service.network, url: "http://api.test")
        #expect(await bench.resume().definite?.contains("\(folder.path)/a.jsonl can't be read") == true)
    }

    @Test("a file that changes between the look at it and the sending ends the request, and nothing wrong is accepted")
    func changed() async throws {
        try folder.write("a.jsonl", "1\n2\n")
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        let network = Network(transport: CurlTransport())
        let body = RequestBody.pieces([.lines(path: folder.path + "/a.jsonl", length: 30)])
        let failure = await #expect(throws: ExchangeFailure.self) {
            try await network.exchange(RequestDescription(method: .post, url: server.url, body: body))
        }
        #expect(failure?.reason == .sourceChanged(path: folder.path + "/a.jsonl"))
    }

    @Test("beside a digest the same bytes are digested as are sent")
    func digest() async throws {
        try folder.write("a.jsonl", "1\n2\n")
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        let bench = try StageBench(
            """
            { "id": "a", "kind": "request", "service": "api", "request": { "POST": "/x", "json": "${{ jsonLines('a.jsonl') }}" } }
            """, network: Network(transport: CurlTransport()), url: server.url, with: #"[ { "digest": {} } ]"#,
            folders: JobFolders(document: folder.path, output: folder.path))
        #expect(await bench.resume().isFinished)
        let request = try #require(server.requests.first)
        #expect(request.text == "[1,2]")
        // printf '[1,2]' | openssl dgst -sha256 -binary | base64
        #expect(request.header("Content-Digest") == "sha-256=:\(Self.digestOfList):")
    }

    private static let digestOfList = "SaZHF9XUyxmVLm6sKUZBXPaHmtrPmQjn2HIzLTLG5oQ="
}
