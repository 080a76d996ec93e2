import FoundationEssentials
import HTTPTypes
import NetworkTasks
import PipelineHTTP
import PipelineTestKit
import Testing

@Suite("Sending templates")
struct NetworkTests {
    struct Upload: Model, Equatable {
        var id: String
        var size: Int
    }

    struct CreateUpload: RequestTemplate {
        let size: Int
        var method: HTTPRequest.Method { .post }
        var path: String { "/uploads" }
        var headers: HTTPFields { [.contentType: "application/json"] }
        var body: RequestBody { get throws(RequestFailure) { try .json(["size": size]) } }
        typealias Output = Upload
    }

    struct FetchText: RequestTemplate {
        var path: String
        var expected: StatusSet = .success
        typealias Output = String
    }

    struct Refusal: Error, Equatable {
        let code: String
    }

    struct FetchStrict: RequestTemplate {
        var path: String { "/strict" }
        typealias Output = Empty
        func serviceError(from response: HTTPExchangeResponse) -> (any Error)? {
            response.header("X-Code").map { Refusal(code: $0) }
        }
    }

    struct ListNames: RequestTemplate {
        var path: String { "/names" }
        var query: [(name: String, value: String)] { [("limit", "2")] }
        func convert(_ response: HTTPExchangeResponse) throws -> [String] {
            String(decoding: response.body, as: UTF8.self).split(separator: ",").map(String.init)
        }
    }

    func network(_ transport: ScriptedTransport) -> Network {
        Network(transport: transport, baseURL: "https://api.test/v1", decorators: [Headers([("X-Outer", "1")])])
    }

    @Test("a template is built, decorated, sent and converted")
    func send() async throws {
        let transport = ScriptedTransport { _, _ in
            HTTPExchangeResponse(status: 201, body: Array(#"{"id":"u1","size":5}"#.utf8))
        }
        let upload = try await network(transport).send(
            CreateUpload(size: 5).bearer("t").idempotent("k").headers([("X-Outer", "2")]).query([("a", "b c")]))
        #expect(upload == Upload(id: "u1", size: 5))
        let request = try #require(transport.requests.first)
        #expect(request.method == .post)
        #expect(request.url == "https://api.test/v1/uploads?a=b%20c")
        #expect(request.body.segments == [.bytes(Array(#"{"size":5}"#.utf8))])
        #expect(
            request.headers.map { "\($0.name.rawName): \($0.value)" } == [
                "Content-Type: application/json", "X-Outer: 2", "Idempotency-Key: k", "Authorization: Bearer t",
            ])
    }

    @Test("a status that is not expected is an error with the start of the body")
    func statusError() async throws {
        let transport = ScriptedTransport { _, _ in
            HTTPExchangeResponse(status: 404, body: Array(("no\u{1b}[31m" + String(repeating: "x", count: 5000)).utf8))
        }
        let error = await #expect(throws: StatusCodeError.self) {
            try await network(transport).send(FetchText(path: "/thing?token=secret"))
        }
        #expect(error?.status == 404)
        #expect(error?.title == "GET https://api.test/v1/thing was answered with status 404")
        #expect(error?.bodyStart.hasPrefix("no [31mxxx") == true)
        #expect(error?.bodyStart.count == 1024)
        #expect(try await network(transport).send(FetchText(path: "/", expected: StatusSet([404...404]))).count > 1024)
    }

    @Test("a back end's errors become its own type")
    func serviceError() async throws {
        let transport = ScriptedTransport { _, _ in
            HTTPExchangeResponse(status: 409, headers: [HTTPField.Name("X-Code")!: "taken"])
        }
        await #expect(throws: Refusal(code: "taken")) { try await network(transport).send(FetchStrict()) }
    }

    @Test("a body that is not what it should be says where, without names of types")
    func conversion() async throws {
        let transport = ScriptedTransport { _, _ in HTTPExchangeResponse(status: 200, body: Array(#"{"id":7}"#.utf8)) }
        let failure = await #expect(throws: ConversionFailure.self) {
            try await network(transport).send(CreateUpload(size: 1))
        }
        #expect(failure?.message == "the answer is not the JSON that was expected: /id is of another kind")
    }

    @Test("pages follow each other until one is empty")
    func pages() async throws {
        let transport = ScriptedTransport { request, _ in
            let page = request.url.split(separator: "page=").last.flatMap { Int($0) } ?? 1
            return HTTPExchangeResponse(status: 200, body: Array((page < 3 ? "a\(page),b\(page)" : "").utf8))
        }
        var names: [[String]] = []
        for try await page in network(transport).pages(of: ListNames().bearer("t").paginated(by: .page("page"))) {
            names.append(page)
        }
        #expect(names == [["a1", "b1"], ["a2", "b2"], []])
        #expect(
            transport.requests.map { $0.url.split(separator: "?")[1] } == [
                "limit=2", "limit=2&page=2", "limit=2&page=3",
            ])
        #expect(transport.requests.allSatisfy { $0.headers[.authorization] == "Bearer t" })
    }

    @Test("pages follow links, and stop at one that leads back")
    func links() async throws {
        let transport = ScriptedTransport { request, _ in
            let next = request.url.contains("p2") ? "/v1/names?limit=2" : "/names/p2"
            return HTTPExchangeResponse(
                status: 200, headers: [HTTPField.Name("Link")!: "</x>; rel=\"prev\", <\(next)>; rel=\"next\""],
                body: Array("a".utf8), url: request.url)
        }
        var count = 0
        await #expect(throws: Pages<ListNames>.RepeatedPageError.self) {
            for try await _ in network(transport).pages(of: ListNames().paginated(by: .link)) { count += 1 }
        }
        #expect(count == 2)
        #expect(transport.requests.map(\.url) == ["https://api.test/v1/names?limit=2", "https://api.test/names/p2"])
    }

    @Test("an answer goes to a file through the same template")
    func download() async throws {
        let server = try LoopbackServer { _ in .status(200, body: "model") }
        defer { server.stop() }
        let folder = TemporaryFolder()
        let network = Network(transport: CurlTransport(), baseURL: server.url)
        let task = network.task(FetchText(path: "/model").bearer("t"), to: folder.file("model"))
        #expect(try await task.value.status == 200)
        #expect(folder.bytes("model") == Array("model".utf8))
        #expect(server.requests[0].header("Authorization") == "Bearer t")
    }

    @Test("the scripted transport treats sinks and cancelling as the real one does")
    func scripted() async throws {
        let held = Gate()
        let transport = ScriptedTransport { request, _ in
            if request.url.hasSuffix("/held") { await held.wait() }
            return HTTPExchangeResponse(status: 200, body: Array("data".utf8))
        }
        let folder = TemporaryFolder()
        let answer = try await network(transport).exchange(
            RequestDescription(url: "http://h/"),
            options: ExchangeOptions(receive: .file(FileSink(path: folder.file("data")))))
        #expect(answer.body.isEmpty)
        #expect(folder.bytes("data") == Array("data".utf8))
        let task = transport.start(RequestDescription(url: "http://h/held"), options: ExchangeOptions())
        task.cancel()
        held.open()
        #expect(await task.result == .failure(.cancelled(connectionMade: true)))
    }
}
