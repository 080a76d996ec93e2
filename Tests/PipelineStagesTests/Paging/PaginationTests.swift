import CLibrary
import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP
import PipelineTestKit
import Testing

@testable import PipelineStages

/// Shifts every byte by one and puts the secret's length in front: enough to tell sealed from plain.
private struct ShiftingSeal: SecretSeal {
    func seal(_ bytes: [UInt8], under secret: String) -> [UInt8] {
        [UInt8(secret.utf8.count)] + bytes.map { $0 &+ 1 }
    }

    func unseal(_ sealed: [UInt8], under secret: String) -> [UInt8]? {
        sealed.first == UInt8(secret.utf8.count) ? sealed.dropFirst().map { $0 &- 1 } : nil
    }
}

@Suite("A request with pages")
struct PaginationTests {
    private let folder: TemporaryFolder

    init() { folder = TemporaryFolder() }

    private func bench(
        _ service: PageService, next: String, request: String = #""GET": "/items""#, more: String = "",
        capture: String = #""capture": { "ids": "$items[*].id[]" },"#, secrets: [String: String] = [:],
        with decorators: String = "[]"
    ) throws -> StageBench {
        try StageBench(
            """
            { "id": "a", "kind": "request", "service": "api", \(capture) \(more) "request": { \(request) },
              "paginate": { "items": "$.data[*]", "next": \(next) } }
            """, network: service.network, secrets: secrets, with: decorators,
            folders: JobFolders(document: folder.path, output: folder.path))
    }

    private let all: JSON = [0, 1, 2, 3, 4, 5, 6]
    private static let lines = (0..<7).map { "{\"id\":\($0)}\n" }.joined()

    @Test(
        "gets all pages in every way that a service may page",
        arguments: [
            (#"{ "link": "next" }"#, ["limit=3", "at=3", "at=6"]),
            (#"{ "url": "$.next" }"#, ["limit=3", "at=3", "at=6"]),
            (#"{ "cursor": "$.cursor", "param": "after" }"#, ["limit=3", "limit=3&after=3", "limit=3&after=6"]),
            (
                #"{ "cursor": "$.data[-1:].id", "param": "offset", "while": "$.more" }"#,
                ["limit=3", "limit=3&offset=2", "limit=3&offset=4"]
            ),
            (#"{ "page": "page" }"#, ["limit=3&page=1", "limit=3&page=2", "limit=3&page=3", "limit=3&page=4"]),
            (
                #"{ "page": "page0", "first": 0, "size": { "param": "n", "value": 3 } }"#,
                ["limit=3&page0=0&n=3", "limit=3&page0=1&n=3", "limit=3&page0=2&n=3", "limit=3&page0=3&n=3"]
            ),
            (
                #"{ "offset": "offset" }"#,
                ["limit=3&offset=0", "limit=3&offset=3", "limit=3&offset=6", "limit=3&offset=7"]
            ),
        ])
    func styles(next: String, queries: [String]) async throws {
        let service = PageService()
        let bench = try bench(service, next: next, request: #""GET": "/items", "query": { "limit": 3 }"#)
        #expect(await bench.resume().isFinished)
        #expect(service.queries == queries)
        let ids = bench.captures["ids"]?.array ?? []
        #expect(next.contains("-1:") ? Set(ids.map(\.text)).count == 7 : .array(ids) == all)
    }

    @Test("takes the first page's number and the most pages from expressions")
    func computedNumbers() async throws {
        let service = PageService()
        let bench = try StageBench(
            """
            { "id": "a", "kind": "request", "service": "api", "capture": { "ids": "$items[*].id[]" },
              "request": { "GET": "/items" },
              "paginate": { "items": "$.data[*]", "maxPages": "${{ inputs.most }}",
                            "next": { "page": "page", "first": "${{ inputs.from }}" } } }
            """, network: service.network, inputs: ["most": 2, "from": 1])
        #expect(await bench.resume().isFinished)
        #expect(service.queries == ["page=1", "page=2"])
        let wrong = try StageBench(
            """
            { "id": "a", "kind": "request", "service": "api", "request": { "GET": "/items" },
              "paginate": { "items": "$.data[*]", "maxPages": "${{ inputs.most }}", "next": { "link": "next" } } }
            """, network: service.network, inputs: ["most": 0])
        #expect(await wrong.resume().definite?.contains("this must be a whole number from 1 to 1000000000") == true)
    }

    @Test("puts a cursor into a JSON body, a form and a header, of a search that is a POST too")
    func places() async throws {
        for (request, place) in [
            (#""POST": "/search", "json": { "q": "x" }"#, "body"),
            (#""POST": "/search", "form": { "q": "x" }"#, "body"),
            (#""POST": "/search""#, "body"), (#""GET": "/items""#, "header"),
        ] {
            let service = PageService()
            let name = place == "header" ? "X-Cursor" : "after"
            let bench = try bench(
                service, next: #"{ "cursor": "$.cursor", "param": "\#(name)", "in": "\#(place)" }"#, request: request)
            #expect(await bench.resume().isFinished, "\(request)")
            #expect(bench.captures["ids"] == all, "\(request)")
            #expect(service.requests.count == 3)
        }
    }

    /// A service that honours keys refused the second page, or gave the first again.
    @Test("each page of a search that is a POST has an idempotency key of its own, the same after a restart")
    func keys() async throws {
        let service = PageService()
        let bench = try bench(
            service, next: #"{ "cursor": "$.cursor", "param": "after", "in": "body" }"#,
            request: #""POST": "/search", "json": {}"#, with: #"[ { "idempotencyKey": {} } ]"#)
        bench.host.read { $0.commitsLeft = 1 }
        #expect(await !bench.resume().isFinished)
        bench.host.read {
            $0.commitsLeft = nil
            $0.journalFailure = nil
        }
        bench.checkpoint = bench.host.read(\.checkpoint)
        #expect(await bench.resume().isFinished)
        let key = SubmitName(jobKey: "key1", step: StepKey(stage: "a")).key(ofGeneration: 1)
        #expect(
            service.requests.map { $0.header("Idempotency-Key") }
                == [key, "\(key)-page-2", "\(key)-page-2", "\(key)-page-3"])
    }

    // From the second page on the form was gone, and JSON with the cursor alone went out.
    @Test(
        "a cursor is put among the fields of a form that a decorator makes",
        arguments: [
            (true, #""filter": "cats""#), (false, #""filter": "cats""#), (true, #""filter": "x", "after": "0""#),
        ])
    func multipartForm(isOwn: Bool, fields: String) async throws {
        let files = #"[ { "name": "picture", "text": "x", "filename": "x.txt" } ]"#
        let form = #"[ { "multipart": { "fields": { \#(fields) }, "files": \#(files) } } ]"#
        let service = ScriptedService()
        service.on("POST /v1/search", 200, #"{ "data": [ {"id": 1} ], "cursor": 7 }"#)
        service.on("POST /v1/search", 200, #"{ "data": [ {"id": 2} ], "cursor": null }"#)
        let bench = try StageBench(
            """
            { "id": "a", "kind": "request", "service": "api",
              "request": { "POST": "/search", "with": \(isOwn ? form : "[]") },
              "paginate": { "items": "$.data[*]", "next": { "cursor": "$.cursor", "param": "after", "in": "body" } } }
            """, network: service.network, with: isOwn ? "[]" : form)
        #expect(await bench.resume().isFinished)
        let names = service.requests.map { request -> [String] in
            guard case .multipart(let body) = request.body else { return [] }
            return body.parts.map(\.name)
        }
        let first = fields.contains("after") ? ["filter", "after", "picture"] : ["filter", "picture"]
        #expect(names == [first, ["filter", "after", "picture"]])
        guard case .multipart(let body)? = service.requests.last?.body else { return }
        #expect(body.parts[1] == .field("after", "7"))
    }

    @Test(
        "a cursor keeps its JSON type in a body",
        arguments: [
            ("7", "7"), (#""7""#, #""7""#), (#"["a",1]"#, #"["a",1]"#), (#"{"k":{"S":"x"}}"#, #"{"k":{"S":"x"}}"#),
        ])
    func cursorType(cursor: String, sent: String) async throws {
        let service = ScriptedService()
        service.on("POST /v1/search", 200, #"{ "data": [ {"id": 1} ], "cursor": \#(cursor) }"#)
        service.on("POST /v1/search", 200, #"{ "data": [ {"id": 2} ], "cursor": null }"#)
        let bench = try StageBench(
            """
            { "id": "a", "kind": "request", "service": "api", "request": { "POST": "/search", "json": {} },
              "paginate": { "items": "$.data[*]", "next": { "cursor": "$.cursor", "param": "after", "in": "body" } } }
            """, network: service.network)
        // The process ends after the first page: the type is in the checkpoint.
        bench.host.read { $0.commitsLeft = 1 }
        #expect(await !bench.resume().isFinished)
        bench.host.read {
            $0.commitsLeft = nil
            $0.journalFailure = nil
        }
        bench.checkpoint = bench.host.read(\.checkpoint)
        service.reset("POST /v1/search")
        service.on("POST /v1/search", 200, #"{ "data": [ {"id": 2} ], "cursor": [] }"#)
        #expect(await bench.resume().isFinished)
        #expect(service.requests.last?.text == #"{"after":\#(sent)}"#)
    }

    @Test("an expression on the response says whether there is another page")
    func condition() async throws {
        let service = PageService { $0.extra = { #""left": \#(2 - $0),"# } }
        let bench = try bench(
            service, next: #"{ "cursor": "$.cursor", "param": "after", "while": "response.body.left > 0" }"#,
            request: #""GET": "/items", "query": { "limit": 3 }"#)
        #expect(await bench.resume().isFinished)
        #expect(service.queries == ["limit=3", "limit=3&after=3"])
    }

    @Test("pages of text are appended, the first lines of all but the first left out")
    func text() async throws {
        let service = ScriptedService()
        service.on("GET /v1/rows", 200, "name,size\na,1\nb,2", headers: ["X-Next": "2"])
        service.on("GET /v1/rows", 200, "name,size\nc,3\n", headers: ["X-Next": "3"])
        service.on("GET /v1/rows", 200, "name,size\n", headers: ["X-Next": "4"])
        let bench = try StageBench(
            """
            { "id": "a", "kind": "request", "service": "api", "request": { "GET": "/rows" }, "to": "rows.csv",
              "paginate": { "text": { "skipLines": 1 }, "next": { "cursor": "header:X-Next", "param": "at" } } }
            """, network: service.network, folders: JobFolders(document: folder.path, output: folder.path))
        #expect(await bench.resume().isFinished)
        #expect(folder.read("rows.csv") == "name,size\na,1\nb,2\nc,3\n")
        #expect(service.requests.count == 3)
    }

    @Test(
        "mistakes of pages of text are told",
        arguments: [
            (#""text": {}, "items": "$.a""#, "", "'items' stands beside 'text'"),
            (#""text": { "skipLines": 1 }"#, "", "the text of the pages goes nowhere"),
            (#""text": {}"#, #""to": "x", "capture": { "a": "$items[0]" },"#, "these pages are text"),
            ("", "", "'items' is missing here"),
        ])
    func textMistakes(content: String, more: String, message: String) {
        let comma = content.isEmpty ? "" : ", "
        let report = StageBench.report(
            """
            { "id": "a", "kind": "request", "service": "api", "request": { "GET": "/rows" }, \(more)
              "paginate": { \(content)\(comma) "next": { "link": "next" } } }
            """)
        #expect(report.contains(message))
    }

    @Test(
        "a capture that reads the last page alone is warned of, with what reads all of them",
        arguments: [
            ("$.data[*][]", #"write "$items": "$items" is the array"#), ("$.data", #"write "$items": "$items" is"#),
            ("$.data[*].id[]", #"write "$items[*].id[]": "$items" is the array"#),
            ("/total", #""$items" is the array"#),
        ])
    func lastPage(selector: String, hint: String) throws {
        let plan = try StageBench.plan(
            """
            { "id": "a", "kind": "request", "service": "api", "request": { "GET": "/items" },
              "capture": { "ids": "\(selector)", "all": "$items", "etag": "header:ETag?" },
              "paginate": { "items": "$.data[*]", "next": { "link": "next" } } }
            """, network: PageService().network)
        #expect(plan.warnings.diagnostics.map(\.message) == ["the capture 'ids' reads the last page alone"])
        #expect(plan.warnings.diagnostics.first?.hint?.contains(hint) == true)
        #expect(plan.warnings.text.hasPrefix("test.json:4:"))
    }

    @Test("a capture that finds several values in the last page is told to read $items")
    func severalInLastPage() async throws {
        let service = PageService { $0.count = 6 }
        let bench = try bench(
            service, next: #"{ "link": "next" }"#, capture: #""capture": { "ids": "$.data[*].id" },"#)
        let failure = await bench.resume().tryFailure?.failure
        #expect(failure?.title.contains("$.data[*].id matches more than one value") == true)
        #expect(failure?.hint?.hasPrefix(#"write "$items[*].id[]""#) == true)
    }

    @Test("writes the items to a file as JSON Lines, and says so of a different one that is there")
    func file() async throws {
        let service = PageService()
        let bench = try bench(
            service, next: #"{ "link": "next" }"#, more: #""to": "all.jsonl","#,
            capture: #""capture": { "more": "$.more", "status": "status" },"#)
        #expect(await bench.resume().isFinished)
        #expect(folder.read("all.jsonl") == Self.lines)
        #expect(folder.names == ["all.jsonl"])
        #expect(bench.captures == ["more": false, "status": 200, "path": .string("\(folder.path)/all.jsonl")])
        let written = bench.host.read { $0.files }
        #expect(written.map(\.bytes) == [Int64(Self.lines.utf8.count)])
        #expect(written.first?.sha256 == TransferFolder.sha256(Array(Self.lines.utf8)))
        try folder.write("all.jsonl", "mine")
        let other = try self.bench(service, next: #"{ "link": "next" }"#, more: #""to": "all.jsonl","#, capture: "")
        #expect(await other.resume().definite?.contains("a different file is at") == true)
        #expect(folder.read("all.jsonl") == "mine")
        #expect(folder.read("all.jsonl.part") == Self.lines)
        try folder.write("all.jsonl", Self.lines)
        let before = service.requests.count
        #expect(await other.resume().isFinished)
        #expect(service.requests.count == before)
    }

    @Test("goes on at the page reached, with a file and without", arguments: [true, false])
    func resume(hasFile: Bool) async throws {
        let service = PageService { state in
            state.failures = [3: ExchangeFailure(.connectionReset, message: "Cut.", connectionMade: true)]
        }
        let bench = try bench(
            service, next: #"{ "cursor": "$.cursor", "param": "after" }"#, more: hasFile ? #""to": "all.jsonl","# : "",
            capture: hasFile ? "" : #""capture": { "ids": "$items[*].id[]" },"#)
        #expect(await bench.resume().tryFailure?.kind == .silent)
        if hasFile {
            // What was written and not committed does not count.
            let part = try #require(folder.read("all.jsonl.part"))
            try folder.write("all.jsonl.part", part + "{\"id\": 99}\n{\"id\"")
        }
        #expect(await bench.resume().isFinished)
        #expect(service.queries == ["", "after=3", "after=6", "after=6"])
        if hasFile { #expect(folder.read("all.jsonl") == Self.lines) } else { #expect(bench.captures["ids"] == all) }
    }

    /// Beyond some megabytes each failure threw away what had come since the last commit: the same pages came forever.
    @Test(
        "keeps all pages of a long list that came before the try ended",
        arguments: [(503, nil), (401, nil), (0, .connectionReset), (0, .cancelled)]
            as [(Int, ExchangeFailure.Reason?)])
    func longResume(status: Int, reason: ExchangeFailure.Reason?) async throws {
        let ends = stride(from: 5, through: 40, by: 5)
        let service = PageService { state in
            (state.count, state.size) = (30, 1)
            state.itemMembers = #", "text": "\#(String(repeating: "x", count: 100_000))""#
            for number in ends {
                if let reason {
                    state.failures[number] = ExchangeFailure(reason, message: "Cut.", connectionMade: true)
                } else {
                    state.answers[number] = HTTPExchangeResponse(status: status, headers: [.retryAfter: "1"])
                }
            }
        }
        let bench = try bench(service, next: #"{ "cursor": "$.cursor", "param": "after" }"#)
        for _ in 0..<7 {
            bench.host.read { $0.hasFailed = true }
            #expect(await !bench.resume().isFinished)
            #expect(!bench.host.read(\.hasFailed))
        }
        #expect(await bench.resume().isFinished)
        #expect(bench.captures["ids"]?.array?.map(\.text) == (0..<30).map { "\($0)" })
        #expect(service.requests.count == 37)
    }

    @Test("begins again when the part is gone or damaged", arguments: [nil, "{\"id\":0}\n{\"id\":1}\n{\"id\":9}\n"])
    func damaged(content: String?) async throws {
        let service = PageService { state in
            state.failures = [2: ExchangeFailure(.connectionReset, message: "Cut.", connectionMade: true)]
        }
        let bench = try bench(service, next: #"{ "page": "page" }"#, more: #""to": "all.jsonl","#, capture: "")
        _ = await bench.resume()
        if let content { try folder.write("all.jsonl.part", content) } else { folder.delete("all.jsonl.part") }
        #expect(await bench.resume().isFinished)
        #expect(folder.read("all.jsonl") == Self.lines)
        #expect(service.queries == ["page=1", "page=2", "page=1", "page=2", "page=3", "page=4"])
    }

    @Test("a crash before any commit loses no item and doubles none", arguments: 0..<6)
    func crash(commits: Int) async throws {
        let service = PageService()
        let bench = try bench(service, next: #"{ "link": "next" }"#, more: #""to": "all.jsonl","#, capture: "")
        bench.host.read { $0.commitsLeft = commits }
        let died = await bench.resume()
        if commits < 4 { #expect(!died.isFinished) }
        bench.host.read { state in
            state.journalFailure = nil
            state.commitsLeft = nil
        }
        bench.checkpoint = bench.host.read(\.checkpoint)
        #expect(await bench.resume().isFinished)
        #expect(folder.read("all.jsonl") == Self.lines)
        #expect(folder.names == ["all.jsonl"])
        #expect(bench.host.read { $0.files.count } >= 1)
    }

    @Test("never cuts off a result that its part has become when a process died", arguments: [0, 5])
    func linkedPart(more: Int) async throws {
        let service = PageService()
        let bench = try bench(service, next: #"{ "link": "next" }"#, more: #""to": "all.jsonl","#, capture: "")
        bench.host.read { $0.commitsLeft = 2 }
        #expect(await !bench.resume().isFinished)
        bench.host.read { state in
            state.journalFailure = nil
            state.commitsLeft = nil
        }
        bench.checkpoint = bench.host.read(\.checkpoint)
        // As much as was committed, or more: another job's result, which has two names for a moment.
        let length = Self.lines.utf8.count / 7 * 6
        let (part, result) = (folder.path + "/all.jsonl.part", folder.path + "/result")
        truncate(part, off_t(length))
        if more > 0 { truncate(part, off_t(length + more)) }
        linkat(AT_FDCWD, part, AT_FDCWD, result, 0)
        let before = folder.read("result")
        #expect(await bench.resume().isFinished)
        #expect(folder.read("all.jsonl") == Self.lines)
        #expect(folder.read("result") == before)
    }

    @Test("refuses a next URL at another origin, unless credentials say so")
    func origin() async throws {
        let service = PageService { $0.url = "http://evil.test/items" }
        let guarded = try bench(service, next: #"{ "link": "next" }"#, secrets: ["T": "sesame-12345"], with: bearer)
        #expect(await guarded.resume().definite?.contains("another origin, http://evil.test:80") == true)
        #expect(service.requests.count == 1)
        for (word, value) in [("none", nil), ("any-origin", "Bearer sesame-12345")] {
            let service = PageService { $0.url = "http://evil.test/items" }
            let open = try bench(
                service, next: #"{ "link": "next" }"#, request: #""GET": "/items", "credentials": "\#(word)""#,
                secrets: ["T": "sesame-12345"], with: bearer)
            #expect(await open.resume().isFinished)
            #expect(service.requests.map { $0.header("Authorization") } == [value, value, value])
        }
    }

    private let bearer = #"[ { "bearer": "${{ secrets.T }}" } ]"#

    @Test("a service that repeats itself or does not know the parameter is an error, not an endless list")
    func loops() async throws {
        let service = PageService { $0.answers = [3: Self.answer(#"{"data": [1], "cursor": "3"}"#)] }
        let circle = try bench(service, next: #"{ "cursor": "$.cursor", "param": "after" }"#)
        #expect(await circle.resume().definite?.contains("lead in a circle: '3' came before") == true)
        let deaf = try bench(PageService(), next: #"{ "page": "seite" }"#)
        #expect(await deaf.resume().definite == "10 pages in a row are the same")
        #expect(deaf.host.read { $0.warnings }.count == 1)
    }

    // Below ten pages the list was full of copies of the first, without a word.
    @Test("all pages up to maxPages that are the same are an error, and a warning at the second", arguments: [2, 5])
    func copies(most: Int) async throws {
        let service = PageService()
        let bench = try StageBench(
            """
            { "id": "a", "kind": "request", "service": "api", "request": { "GET": "/items" },
              "capture": { "ids": "$items[*].id[]" },
              "paginate": { "items": "$.data", "next": { "page": "seite" }, "maxPages": \(most) } }
            """, network: service.network)
        #expect(await bench.resume().definite == "\(most) pages in a row are the same")
        #expect(service.requests.count == most)
        let warnings = bench.host.read { $0.warnings }
        #expect(warnings.count == (most > 2 ? 1 : 0) && warnings.allSatisfy { $0.contains("first two pages") })
    }

    @Test("some pages in a row that are equal are a list of equal things")
    func equalPages() async throws {
        let service = ScriptedService()
        for body in [#"{"data": [0]}"#, #"{"data": [0]}"#, #"{"data": [0]}"#, #"{"data": [1]}"#, #"{"data": []}"#] {
            service.on("GET /v1/items", 200, body)
        }
        let bench = try StageBench(
            """
            { "id": "a", "kind": "request", "service": "api", "capture": { "all": "$items" },
              "request": { "GET": "/items" }, "paginate": { "items": "$.data[*]", "next": { "page": "page" } } }
            """, network: service.network)
        #expect(await bench.resume().isFinished)
        #expect(bench.captures["all"] == [0, 0, 0, 1])
        #expect(bench.host.read { $0.warnings }.count == 1)
    }

    @Test("a cursor is put into a body that an expression gives as a whole")
    func wholeBody() async throws {
        let service = PageService()
        let request = #""POST": "/search", "json": "${{ { 'q': 'x' } }}""#
        let bench = try bench(
            service, next: #"{ "cursor": "$.cursor", "param": "after", "in": "body" }"#, request: request)
        #expect(await bench.resume().isFinished)
        #expect(bench.captures["ids"] == all)
    }

    @Test("pages that differ in what is left out of their items are pages of their own")
    func sameItems() async throws {
        let service = ScriptedService()
        for body in [#"{"data": [{"id": 1, "state": "done"}]}"#, #"{"data": [{"id": 2, "state": "done"}]}"#] {
            service.on("GET /v1/items", 200, body)
        }
        service.on("GET /v1/items", 200, #"{"data": []}"#)
        let bench = try StageBench(
            """
            { "id": "a", "kind": "request", "service": "api", "request": { "GET": "/items" },
              "capture": { "states": "$items" },
              "paginate": { "items": "$.data[*].state", "next": { "page": "page" } } }
            """, network: service.network)
        #expect(await bench.resume().isFinished)
        #expect(bench.captures == ["states": ["done", "done"]])
    }

    private static func answer(_ body: String) -> HTTPExchangeResponse {
        HTTPExchangeResponse(status: 200, body: Array(body.utf8), url: "http://api.test/v1/items")
    }

    @Test("ends at maxPages, and takes an answer without items for the end")
    func limits() async throws {
        let service = PageService()
        let bench = try StageBench(
            """
            { "id": "a", "kind": "request", "service": "api", "request": { "GET": "/items" },
              "capture": { "ids": "$items[*].id[]", "first": "$items[0].id" },
              "paginate": { "items": "$.data", "next": { "page": "page" }, "maxPages": 2 } }
            """, network: service.network)
        #expect(await bench.resume().isFinished)
        #expect(bench.captures == ["ids": [0, 1, 2, 3, 4, 5], "first": 0])
        #expect(service.requests.count == 2)
        let empty = try self.bench(
            PageService { $0.answers = [1: Self.answer(#"{"cursor": "x"}"#)] },
            next: #"{ "cursor": "$.cursor", "param": "c" }"#)
        #expect(await empty.resume().isFinished)
        #expect(empty.captures["ids"] == [])
        #expect(empty.host.read(\.warnings) == ["the first page has no list at $.data[*]: no items are taken from it"])
    }

    @Test("more items than can be kept are an error that names the way out; a page that is no JSON too")
    func tooMany() async throws {
        let long = String(repeating: "x", count: 1 << 20)
        let service = PageService { state in
            state.answers = Dictionary(
                uniqueKeysWithValues: (1...9).map { ($0, Self.answer(#"{"data": ["\#($0)\#(long)"]}"#)) })
        }
        let bench = try bench(service, next: #"{ "page": "page" }"#, capture: #""capture": { "n": "$items[0]" },"#)
        let failed = await bench.resume()
        #expect(failed.definite == "the items of 8 pages have more than 8.0 MiB")
        #expect(failed.tryFailure?.failure.hint?.contains("\"to\"") == true)
        let html = PageService { $0.answers = [1: Self.answer("<html>")] }
        #expect(
            await (try self.bench(html, next: #"{ "page": "page" }"#)).resume().definite?.contains(
                "the page is not JSON") == true)
    }

    /// No page was ever kept, and each try began with the first one.
    @Test("keeps a next URL with a secret in it sealed, and goes on there; with another secret it begins again")
    func sealedSecrets() async throws {
        for isOther in [false, true] {
            let service = PageService { state in
                state.failures = [3: ExchangeFailure(.connectionReset, message: "Cut.", connectionMade: true)]
                state.url = "http://api.test/v1/items?key=sesame-12345"
            }
            let bench = try bench(service, next: #"{ "link": "next" }"#, secrets: ["T": "sesame-12345"])
            bench.host.read { $0.seal = ShiftingSeal() }
            _ = await bench.resume()
            let checkpoint = String(decoding: bench.host.read(\.checkpoint) ?? [], as: UTF8.self)
            #expect(!checkpoint.contains("sesame") && checkpoint.contains("‹secret:T#"))
            if isOther { bench.host.read { $0.scope.secrets = ["T": "other"] } }
            #expect(await bench.resume().isFinished)
            #expect(bench.captures["ids"] == all)
            let pages = service.queries.map { String($0.split(separator: "&").last ?? "") }
            let rest = isOther ? ["", "at=3", "at=6"] : ["at=6"]
            #expect(pages == ["", "at=3", "at=6"] + rest)
            #expect(bench.host.read(\.warnings).count == (isOther ? 1 : 0))
        }
    }

    @Test("a next URL with a secret in it that can't be sealed is not kept, and the list begins again")
    func secrets() async throws {
        let service = PageService { state in
            state.failures = [3: ExchangeFailure(.connectionReset, message: "Cut.", connectionMade: true)]
            state.url = "http://api.test/v1/items?key=sesame-12345"
        }
        let bench = try bench(
            service, next: #"{ "link": "next" }"#, more: #""to": "all.jsonl","#, capture: "",
            secrets: ["T": "sesame-12345"])
        _ = await bench.resume()
        #expect(!String(decoding: bench.host.read(\.checkpoint) ?? [], as: UTF8.self).contains("sesame"))
        #expect(await bench.resume().isFinished)
        #expect(!String(decoding: bench.host.read(\.checkpoint) ?? [], as: UTF8.self).contains("sesame"))
        #expect(folder.read("all.jsonl") == Self.lines)
    }

    @Test("a long list costs no more memory than a short one")
    func long() async throws {
        let service = PageService { state in
            state.count = 100_000
            state.size = 1000
            state.answers = [99: HTTPExchangeResponse(status: 503)]
        }
        let bench = try bench(
            service, next: #"{ "cursor": "$.cursor", "param": "after" }"#, more: #""to": "all.jsonl","#, capture: "")
        #expect(await bench.resume().tryFailure?.failure.status == 503)
        #expect((bench.checkpoint?.count ?? .max) < 4096)
        #expect(await bench.resume().isFinished)
        let lines = folder.read("all.jsonl")?.split(separator: "\n") ?? []
        #expect(lines.count == 100_000)
        #expect(lines.last == "{\"id\":99999}")
    }

    @Test("mistakes of the document are told before anything is sent")
    func mistakes() {
        func report(_ request: String, _ next: String, _ more: String = "") -> String {
            StageBench.report(
                """
                { "id": "a", "kind": "request", "service": "api", \(more) "request": { \(request) },
                  "paginate": { "items": "$[*]", "next": \(next) } }
                """)
        }
        let get = #""GET": "/items""#
        #expect(report(get, #"{ "link": "next" }"#) == "")
        #expect(
            report(#""GET": "/items?page=1""#, #"{ "page": "page" }"#)
                .contains("the request has the query parameter 'page' already"))
        #expect(
            report(#""GET": "/items", "query": { "n": 1 }"#, #"{ "page": "p", "size": { "param": "n", "value": 5 } }"#)
                .contains("the request has the query parameter 'n' already"))
        #expect(report(get, #"{ "link": "next", "page": "p" }"#).contains("'next' has more than one way: link, page"))
        #expect(report(get, "{}").contains("'next' does not say how the next page is found"))
        #expect(report(get, #"{ "cursor": "$.c" }"#).contains("'param' is missing here"))
        #expect(report(get, #"{ "url": "$.c", "in": "body" }"#).contains("'in' has a meaning only beside 'cursor'"))
        #expect(report(get, #"{ "curser": "$.c", "param": "c" }"#).contains("did you mean 'cursor'?"))
        #expect(
            report(#""POST": "/x", "text": "t""#, #"{ "cursor": "$.c", "param": "c", "in": "body" }"#)
                .contains("can't be put into a body that is a text or a file"))
        #expect(
            report(get, #"{ "link": "next" }"#, #""to": "x", "capture": { "a": "$items[0]" },"#)
                .contains("reads $items, which \"to\" writes to a file instead"))
        #expect(
            report(#""POST": "/x", "once": { "key": "K" }"#, #"{ "link": "next" }"#)
                .contains("'once' has no meaning beside 'paginate'"))
    }

    /// The page of the former token was asked for again and again, and no fresh one was of use.
    @Test(
        "whose next page has a URL begins with the first page again when the request is another one",
        arguments: ["", #""to": "x.jsonl","#])
    func otherRequest(to: String) async throws {
        let service = ScriptedService()
        let next = "http://api.test/v1/items?page=2&token"
        service.on("GET /v1/items", 200, #"{"data": [1], "next": "\#(next)=t1"}"#)
        service.on("GET /v1/items", 401)
        service.on("GET /v1/items", 200, #"{"data": [1], "next": "\#(next)=t2"}"#)
        service.on("GET /v1/items", 200, #"{"data": [2]}"#)
        let capture = to.isEmpty ? #""capture": { "all": "$items" },"# : to
        let bench = try StageBench(
            """
            { "id": "login", "kind": "request", "service": "api", "request": { "GET": "/login" },
              "capture": { "token": "$.token" } },
            { "id": "a", "kind": "request", "service": "api", \(capture)
              "request": { "GET": "/items", "query": { "token": "${{ stages.login.token }}" } },
              "paginate": { "items": "$.data[*]", "next": { "url": "$.next" } } }
            """, network: service.network, captures: ["login": .object(["token": "t1"])],
            folders: JobFolders(document: folder.path, output: folder.path))
        #expect(await bench.resume().tryFailure?.failure.status == 401)
        bench.host.read { $0.scope.stages["login"] = .object(["token": "t2"]) }
        #expect(await bench.resume().isFinished)
        #expect(service.requests.map { $0.url.contains("page=2") } == [false, true, false, true])
        #expect(service.requests.last?.url.hasSuffix("token=t2") == true)
        if to.isEmpty { #expect(bench.captures["all"] == [1, 2]) } else { #expect(folder.read("x.jsonl") == "1\n2\n") }
        #expect(bench.host.read(\.warnings).count == 1)
    }

    /// Pages of the second export stood after those of the first: some rows came twice and some never, without a word.
    @Test(
        "goes on at the page reached with a fresh token, and with the first page of a fresh export",
        arguments: [
            #"{ "page": "page" }"#, #"{ "offset": "offset" }"#, #"{ "cursor": "$.cursor", "param": "after" }"#,
        ])
    func otherExport(next: String) async throws {
        for (isOther, isInQuery) in [(false, false), (false, true), (true, false)] {
            let service = PageService { $0.answers = [3: HTTPExchangeResponse(status: 410)] }
            let token = isInQuery ? #", "query": { "key": "${{ stages.x.token }}" }"# : ""
            let bench = try StageBench(
                """
                { "id": "x", "kind": "request", "service": "api", "request": { "GET": "/export" },
                  "capture": { "id": "$.id", "token": "$.token" } },
                { "id": "a", "kind": "request", "service": "api", "capture": { "ids": "$items[*].id[]" },
                  "request": { "GET": "/${{ stages.x.id }}/rows"\(token) }, "with": [ { "bearer": "${{ stages.x.token }}" } ],
                  "paginate": { "items": "$.data[*]", "next": \(next) } }
                """, network: service.network, captures: ["x": .object(["id": "1", "token": "token-1"])])
            bench.host.conceal("token-1", as: "x.token")
            #expect(await bench.resume().tryFailure?.failure.status == 410)
            bench.host.read { $0.scope.stages["x"] = .object(["id": isOther ? "2" : "1", "token": "token-2"]) }
            bench.host.conceal("token-2", as: "x.token")
            #expect(await bench.resume().isFinished)
            #expect(bench.captures["ids"] == all)
            let (gone, fresh) = (service.requests.prefix(3), service.requests.dropFirst(3))
            #expect(gone.allSatisfy { $0.url.contains("/1/rows") })
            #expect(fresh.allSatisfy { $0.url.contains(isOther ? "/2/rows" : "/1/rows") })
            let resumed = fresh.first?.url.replacing("token-2", with: "token-1")
            #expect((resumed == gone.last?.url) == !isOther)
            #expect(bench.host.read(\.warnings).count == (isOther ? 1 : 0))
        }
    }

    @Test("a parameter that only an expression brings is found when it is sent")
    func lateConflict() async throws {
        let bench = try StageBench(
            """
            { "id": "a", "kind": "request", "service": "api", "request": { "GET": "/items?${{ inputs.q }}" },
              "paginate": { "items": "$[*]", "next": { "page": "page" } } }
            """, network: PageService().network, inputs: ["q": "page=9"])
        #expect(await bench.resume().definite?.contains("has the query parameter 'page' already") == true)
    }

    @Test("follows links over real connections")
    func loopback() async throws {
        let server = try LoopbackServer { request in
            let page = Int(request.target.split(separator: "=").last ?? "") ?? 1
            let next =
                page < 4
                ? [("Link", #"</v1/items?p=\#(page - 1)>; rel="prev""#), ("Link", #"<?p=\#(page + 1)>; rel="next""#)]
                : []
            return .status(200, headers: next, body: "[\(page), \(page).50]")
        }
        defer { server.stop() }
        let bench = try StageBench(
            """
            { "id": "a", "kind": "request", "service": "api", "to": "out.jsonl", "request": { "GET": "/items" },
              "paginate": { "items": "$[*]", "next": { "link": "next" } } }
            """, network: Network(transport: CurlTransport()), secrets: ["T": "sesame-12345"], url: "\(server.url)/v1",
            with: bearer, folders: JobFolders(document: folder.path, output: folder.path))
        #expect(await bench.resume().isFinished)
        #expect(folder.read("out.jsonl") == "1\n1.50\n2\n2.50\n3\n3.50\n4\n4.50\n")
        #expect(server.requests.allSatisfy { $0.header("Authorization") == "Bearer sesame-12345" })
    }
}
