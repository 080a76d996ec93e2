import HTTPTypes
import PipelineHTTP
import PipelineTestKit
import Testing

@Suite("Pages of a template")
struct PagesTests {
    struct ListNames: RequestTemplate {
        var path: String { "/names" }
        var query: [(name: String, value: String)] { [("limit", "2")] }
        typealias Output = String
    }

    private func pages(
        _ pager: Pager<String>, _ answer: @escaping @Sendable (String) -> HTTPExchangeResponse
    ) async throws -> (pages: [String], queries: [String]) {
        let transport = ScriptedTransport { request, _ in answer(request.url) }
        let network = Network(transport: transport, baseURL: "https://api.test/v1")
        var found: [String] = []
        for try await page in network.pages(of: ListNames().paginated(by: pager)) { found.append(page) }
        return (found, transport.requests.map { URLParts($0.url)?.query ?? "" })
    }

    private static func page(_ text: String, url: String = "") -> HTTPExchangeResponse {
        HTTPExchangeResponse(status: 200, body: Array(text.utf8), url: url)
    }

    @Test("follow a cursor until there is none")
    func cursor() async throws {
        let result = try await pages(.cursor("after") { $0 == "b" ? nil : "c1" }) { url in
            Self.page(url.hasSuffix("after=c1") ? "b" : "a")
        }
        #expect(result.pages == ["a", "b"])
        #expect(result.queries == ["limit=2", "limit=2&after=c1"])
    }

    @Test("count their elements, until a page has none")
    func offset() async throws {
        let result = try await pages(.offset("from")) { url in Self.page(url.contains("from=5") ? "" : "abcde") }
        #expect(result.pages == ["abcde", ""])
        #expect(result.queries == ["limit=2", "limit=2&from=5"])
    }

    @Test("are not fetched from another origin, where a redirect may have led too")
    func otherOrigin() async throws {
        for (next, answered) in [("https://evil.test/x", ""), ("/x", "https://evil.test/names")] {
            await #expect(throws: PagingFailure.otherOrigin("https://evil.test/x")) {
                try await pages(.url { _ in next }) { url in Self.page("a", url: answered.isEmpty ? url : answered) }
            }
        }
    }

    @Test("give the page before a circle, and say that it is one")
    func circle() async throws {
        let transport = ScriptedTransport { _, _ in Self.page("a") }
        let network = Network(transport: transport, baseURL: "https://api.test")
        var pages = network.pages(of: ListNames().paginated(by: .cursor("c") { _ in "same" })).makeAsyncIterator()
        #expect(try await pages.next() == "a")
        #expect(try await pages.next() == "a")
        await #expect(throws: Pages<ListNames>.RepeatedPageError.self) { try await pages.next() }
        #expect(try await pages.next() == nil)
        #expect(transport.requests.count == 2)
    }
}
