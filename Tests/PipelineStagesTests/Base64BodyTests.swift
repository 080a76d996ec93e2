import JSONPath
import PipelineCore
import PipelineHTTP
import PipelineTestKit
import Testing

@Suite("A file in base64 in a request")
struct Base64BodyTests {
    private let folder = TemporaryFolder()

    private func bench(_ network: Network, url: String, body: String) throws -> StageBench {
        try StageBench(
            #"{ "id": "a", "kind": "request", "service": "api", "request": { "POST": "/x", \#(body) } }"#,
            network: network, url: url, folders: JobFolders(document: folder.path, output: folder.path))
    }

    @Test(
        "is sent as it is read, exactly as long as was said, whatever the length",
        arguments: [0, 1, 2, 3, 4, 5, 6, 191 << 10, (192 << 10) + 1, 1_000_001])
    func sent(size: Int) async throws {
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        try folder.write("a.bin", bytes)
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        let bench = try bench(
            Network(transport: CurlTransport()), url: server.url,
            body: #""json": { "image": "data:image/png;base64,${{ fileBase64('a.bin') }}", "n": 1 }"#)
        #expect(await bench.resume().isFinished)
        let request = try #require(server.requests.first)
        #expect(request.contentLength == Int64(request.body.count))
        #expect(request.text == "{\"image\":\"data:image/png;base64,\(Base64Bytes.encode(bytes))\",\"n\":1}")
    }

    @Test("stays in the body of every page whose cursor stands there too, and so does all else of it")
    func paged() async throws {
        try folder.write("a.bin", "foob")
        let server = try LoopbackServer { request in
            .json(request.text.contains("7") ? #"{"data":[2]}"# : #"{"data":[1],"last":7}"#)
        }
        defer { server.stop() }
        let bench = try StageBench(
            #"""
            { "id": "a", "kind": "request", "service": "api", "capture": { "all": "$items" },
              "request": { "POST": "/x", "json": { "image": "${{ fileBase64('a.bin') }}", "after": null, "limit": 1 } },
              "paginate": { "items": "$.data[*]", "next": { "cursor": "$.last", "param": "after", "in": "body" } } }
            """#,
            network: Network(transport: CurlTransport()), url: server.url,
            folders: JobFolders(document: folder.path, output: folder.path))
        #expect(await bench.resume().isFinished)
        #expect(bench.captures["all"] == [1, 2])
        #expect(
            server.requests.map(\.text) == [
                #"{"image":"Zm9vYg==","after":null,"limit":1}"#, #"{"image":"Zm9vYg==","limit":1,"after":7}"#,
            ])
    }

    @Test("in a body of text")
    func text() async throws {
        try folder.write("a.bin", "foob")
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        let bench = try bench(
            Network(transport: CurlTransport()), url: server.url, body: #""text": "<${{ fileBase64('a.bin') }}>""#)
        #expect(await bench.resume().isFinished)
        #expect(server.requests.first?.text == "<Zm9vYg==>")
    }

    @Test("any stretch of it is what the whole holds there")
    func stretches() throws {
        let bytes = (0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        try folder.write("a.bin", bytes)
        let body = RequestBody.pieces([.bytes([60]), .base64(path: folder.path + "/a.bin", fileSize: 1000)])
        let whole = [60] + Array(Base64Bytes.encode(bytes).utf8)
        #expect(body.length == Int64(whole.count))
        for count in [1, 2, 3, 4, 5, 6, 7, 997, 1336, 1337] {
            #expect(try body.prefix(count) == Array(whole.prefix(count)))
        }
    }

    @Test("a file that became shorter ends the request, and nothing wrong is accepted")
    func changed() async throws {
        try folder.write("a.bin", "abc")
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        let body = RequestBody.pieces([.base64(path: folder.path + "/a.bin", fileSize: 30)])
        let failure = await #expect(throws: ExchangeFailure.self) {
            try await Network(transport: CurlTransport()).exchange(
                RequestDescription(method: .post, url: server.url, body: body))
        }
        #expect(failure?.reason == .sourceChanged(path: folder.path + "/a.bin"))
    }

    @Test(
        "a file that is another than the job read before is refused, streamed in base64 or as lines",
        arguments: ["fileBase64('a.bin')", "jsonLines('a.bin')"])
    func changedMeanwhile(call: String) async throws {
        try folder.write("a.bin", "123")
        let service = ScriptedService()
        let bench = try bench(service.network, url: "http://api.test", body: "\"json\": \"${{ \(call) }}\"")
        let fact = Fact.size(folder.path + "/a.bin")
        bench.host.read { $0.facts[fact] = FileFact(value: 3, fingerprint: "3 1.0 7").json }
        #expect(await bench.resume().definite?.contains("a.bin has changed since the job read it") == true)
        #expect(service.requests.isEmpty)
    }

    @Test("a file that is not there is told before anything is sent")
    func missing() async throws {
        let service = ScriptedService()
        let bench = try bench(service.network, url: "http://api.test", body: #""json": "${{ fileBase64('a.bin') }}""#)
        #expect(await bench.resume().definite?.contains("\(folder.path)/a.bin can't be read") == true)
        #expect(service.requests.isEmpty)
    }
}
