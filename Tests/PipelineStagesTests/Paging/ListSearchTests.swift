import JSONPath
import PipelineCore
import PipelineHTTP
import Testing

@Suite("A lost submit in a list with pages")
struct ListSearchTests {
    private let bodies = Bodies()

    /// Pages of two jobs; the entry in question stands on the page given.
    private struct Bodies {
        func page(_ number: Int, of count: Int, tagged: [Int]) -> String {
            let tag = tagged.contains(number) ? "key1" : "other"
            let next = number < count ? "\"/v1/jobs?p=\(number + 1)\"" : "null"
            return
                #"{"data": [{"id": "x\#(number)", "tag": "no"}, {"id": "j\#(number)", "tag": "\#(tag)"}], "next": \#(next)}"#
        }
    }

    private func bench(_ service: ScriptedService, more: String = "", items: String = "$.data[*]") throws -> StageBench
    {
        try StageBench(
            """
            { "id": "model", "kind": "compute", "service": "api",
              "submit": { "POST": "/jobs", "capture": { "id": "$.id" }, "json": {},
                          "once": { "match": {
                              "list": { "GET": "/jobs", "paginate": { "next": { "url": "$.next" } \(more) } },
                              "items": "\(items)", "where": "item.tag == job.key" } } },
              "poll": { "GET": "/jobs/${{ self.id }}", "status": "$.state", "succeeded": ["done"] } }
            """, network: service.network)
    }

    private func service(pages: Int, tagged: [Int]) -> ScriptedService {
        let service = ScriptedService()
        service.on("POST /v1/jobs", fails: .closedEarly)
        service.on("POST /v1/jobs", 201, #"{"id": "new"}"#)
        for number in 1...pages { service.on("GET /v1/jobs", 200, bodies.page(number, of: pages, tagged: tagged)) }
        return service
    }

    @Test("is found on the last page, with the items named at either place", arguments: ["", #", "items": "$.data""#])
    func found(more: String) async throws {
        let service = service(pages: 3, tagged: [3])
        let bench = try bench(service, more: more, items: more.isEmpty ? "$.data[*]" : "$items[*]")
        #expect(await bench.resume().isWaiting)
        #expect(bench.captures["id"] == "j3")
        #expect(service.lines == ["POST /v1/jobs"] + Array(repeating: "GET /v1/jobs", count: 3))
    }

    @Test("is unknown when entries of two pages match, but not when one entry stands on both")
    func twice() async throws {
        let service = service(pages: 3, tagged: [1, 3])
        #expect(try await bench(service).resume().unknown?.reason.contains("2 entries of the list match") == true)
        let shifted = ScriptedService()
        shifted.on("POST /v1/jobs", fails: .closedEarly)
        for next in ["\"?p=2\"", "null"] {
            shifted.on("GET /v1/jobs", 200, #"{"data": [{"id": "j", "tag": "key1"}], "next": \#(next)}"#)
        }
        let bench = try bench(shifted)
        #expect(await bench.resume().isWaiting)
        #expect(bench.captures["id"] == "j")
    }

    @Test("is sent again when no page has it at the second look")
    func missing() async throws {
        let service = service(pages: 2, tagged: [])
        service.on("GET /v1/jobs", 200, bodies.page(2, of: 2, tagged: []))
        let bench = try bench(service)
        #expect(await bench.resume().isWaiting)
        #expect(await bench.resume().isWaiting)
        #expect(bench.captures["id"] == "new")
        #expect(service.lines.filter { $0 == "POST /v1/jobs" }.count == 2)
    }

    @Test("is unknown when the list can't be read to its end")
    func broken() async throws {
        let circle = ScriptedService()
        circle.on("POST /v1/jobs", fails: .closedEarly)
        circle.on("GET /v1/jobs", 200, #"{"data": [{"id": "j", "tag": "no"}], "next": "/v1/jobs"}"#)
        let unknown = try #require(await (try bench(circle)).resume().unknown)
        #expect(unknown.reason.contains("the pages lead in a circle"))
        let endless = ScriptedService()
        endless.on("POST /v1/jobs", fails: .closedEarly)
        for page in 1...1001 {
            endless.on("GET /v1/jobs", 200, #"{"data": [{"id": "\#(page)", "tag": "no"}], "next": "?p=\#(page)"}"#)
        }
        let bench = try bench(endless)
        #expect(await bench.resume().unknown?.reason.contains("not on the first 1000 pages") == true)
        #expect(endless.lines.count { $0 == "POST /v1/jobs" } == 1)
    }

    /// At a service that let fewer pages pass than there are before the entry the search never came to its end.
    @Test("goes on at the page that failed for now", arguments: [503, 500])
    func later(status: Int) async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", fails: .closedEarly)
        for number in 1...3 {
            service.on("GET /v1/jobs", 200, bodies.page(number, of: 3, tagged: [1]))
            if number < 3 { service.on("GET /v1/jobs", status, headers: ["Retry-After": "7"]) }
        }
        let bench = try bench(service)
        for _ in 0..<2 { #expect(await bench.resume().tryFailure?.retryAfter == .seconds(7)) }
        #expect(await bench.resume().isWaiting)
        #expect(bench.captures["id"] == "j1")
        let list = "http://api.test/v1/jobs"
        #expect(
            service.requests.dropFirst().map(\.url) == [list] + ["?p=2", "?p=2", "?p=3", "?p=3"].map { list + $0 })
    }

    @Test("begins again when the page that failed for now is nowhere any more")
    func void() async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", fails: .closedEarly)
        service.on("GET /v1/jobs", 200, bodies.page(1, of: 2, tagged: []))
        service.on("GET /v1/jobs", 503, headers: ["Retry-After": "7"])
        service.on("GET /v1/jobs", 410)
        for number in 1...2 { service.on("GET /v1/jobs", 200, bodies.page(number, of: 2, tagged: [2])) }
        let bench = try bench(service)
        #expect(await bench.resume().tryFailure?.retryAfter == .seconds(7))
        #expect(await bench.resume().isWaiting)
        #expect(bench.captures["id"] == "j2")
    }

    @Test("a page that is no JSON proves nothing, and is looked at again", arguments: ["", "<html>"])
    func unreadable(body: String) async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", fails: .closedEarly)
        service.on("GET /v1/jobs", 200, body)
        let bench = try bench(service)
        for _ in 0..<3 { #expect(await bench.resume().tryFailure?.kind == .answered) }
        #expect(service.lines.count { $0 == "POST /v1/jobs" } == 1)
    }

    @Test("an answer that leaves it open and asks to wait is not sent again before that", arguments: [500, 408])
    func floor(status: Int) async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", status, headers: ["Retry-After": "90"])
        let bench = try StageBench(
            """
            { "id": "a", "kind": "request", "service": "api",
              "request": { "POST": "/jobs", "once": { "key": "Idempotency-Key" } } }
            """, network: service.network)
        let failed = try #require(await bench.resume().tryFailure)
        #expect(failed.kind == .answered)
        #expect(failed.retryAfter == .seconds(90))
    }
}
