import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP
import PipelineTestKit
import Testing

@Suite("Decorators of a document")
struct DecoratorTests {
    private func sent(
        own: String = "[]", stage: String = "[]", service decorators: String = "[]", pipeline: String = "[]",
        request: String = #""json": {}"#, folder: String = "/tmp"
    ) async throws -> RequestDescription {
        let service = ScriptedService()
        let bench = try StageBench(
            """
            { "id": "a", "kind": "compute", "service": "api", "with": \(stage),
              "submit": { "POST": "/jobs", \(request), "with": \(own) } }
            """, network: service.network, secrets: ["T": "sesame"], header: #""with": \#(pipeline),"#,
            with: decorators,
            folders: JobFolders(document: folder, output: folder))
        await bench.resume()
        return try #require(service.requests.first)
    }

    @Test("inside a phase the inner one wins: request, stage, service, pipeline")
    func order() async throws {
        func add(_ value: String) -> String {
            #"[ { "headers": { "X-\#(value)": "\#(value)", "X-All": "\#(value)" } } ]"#
        }
        let request = try await sent(
            own: add("own"), stage: add("stage"), service: add("service"), pipeline: add("pipeline"))
        #expect(request.header("X-All") == "own")
        #expect(request.header("X-pipeline") == "pipeline")
        let outer = try await sent(service: add("service"), pipeline: add("pipeline"))
        #expect(outer.header("X-All") == "service")
    }

    @Test("of several credentials only the innermost applies")
    func credentials() async throws {
        let request = try await sent(
            own: #"[ { "basic": { "user": "u", "password": "p" } } ]"#,
            service: #"[ { "bearer": "${{ secrets.T }}" } ]"#,
            pipeline: #"[ { "apiKey": { "header": "X-Key", "value": "k" } } ]"#)
        #expect(request.header("Authorization") == "Basic dTpw")
        #expect(request.header("X-Key") == nil)
    }

    @Test("an API key stands in a header or in the query")
    func apiKey() async throws {
        let header = try await sent(own: #"[ { "apiKey": { "header": "X-Key", "value": "${{ secrets.T }}" } } ]"#)
        #expect(header.header("X-Key") == "sesame")
        let query = try await sent(own: #"[ { "apiKey": { "query": "key", "value": "${{ secrets.T }}" } } ]"#)
        #expect(query.url == "http://api.test/v1/jobs?key=sesame")
    }

    @Test("query and prefer add to what is there")
    func shape() async throws {
        let request = try await sent(
            own: #"[ { "query": { "a": 1, "b": [2, 3] } }, { "prefer": ["respond-async", "wait=10"] } ]"#,
            request: #""query": { "a": 0 }"#)
        #expect(request.url == "http://api.test/v1/jobs?a=0&b=2&b=3")
        #expect(request.header("Prefer") == "respond-async, wait=10")
    }

    @Test("the idempotency key is the step's own, and only on requests that change something")
    func idempotencyKey() async throws {
        let key = SubmitName(jobKey: "key1", step: StepKey(stage: "a")).key(ofGeneration: 1)
        let request = try await sent(service: #"[ { "idempotencyKey": { "quoted": true } } ]"#)
        #expect(request.header("Idempotency-Key") == "\"\(key)\"")

        let service = ScriptedService()
        service.on("GET /v1/jobs/7", 200, "{}")
        service.on("DELETE /v1/jobs/7", 204)
        let bench = try StageBench(
            """
            { "id": "a", "kind": "compute", "service": "api", "poll": { "GET": "/jobs/7", "until": "false" },
              "cancel": { "DELETE": "/jobs/7" } }
            """, network: service.network, with: #"[ { "idempotencyKey": { "header": "X-Key" } } ]"#)
        await bench.resume()
        _ = await bench.cancel()
        #expect(service.requests[0].header("X-Key") == nil)
        #expect(service.requests[1].header("X-Key") == "\(key)-cancel")
    }

    /// A service that honours keys said for ever what it had said to the first poll.
    @Test("polls and look-ups that are a POST carry no idempotency key")
    func idempotencyKeyOfQuestions() async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", fails: .connectionReset)
        service.on("POST /v1/find", 200, #"{"id": 7}"#)
        service.on("POST /v1/state", 200, #"{"state": "busy"}"#)
        service.on("POST /v1/state", 200, #"{"state": "done"}"#)
        let bench = try StageBench(
            """
            { "id": "a", "kind": "compute", "service": "api",
              "submit": { "POST": "/jobs", "json": {}, "capture": { "id": "$.id" },
                          "once": { "name": { "POST": "/find", "json": {} }, "ours": "true" } },
              "poll": { "POST": "/state", "json": {}, "status": "$.state", "succeeded": ["done"] } }
            """, network: service.network, with: #"[ { "idempotencyKey": {} } ]"#)
        #expect(await bench.run().isFinished)
        #expect(service.lines == ["POST /v1/jobs", "POST /v1/find", "POST /v1/state", "POST /v1/state"])
        #expect(service.requests.map { $0.header("Idempotency-Key") != nil } == [true, false, false, false])
    }

    @Test("a form has its fields in their order and its files after them")
    func multipart() async throws {
        let folder = TemporaryFolder()
        try folder.write("a.txt", "hello")
        let request = try await sent(
            own: """
                [ { "multipart": { "files": [ { "name": "f", "file": "a.txt", "contentType": "text/x" },
                      { "name": "t", "text": "inline", "filename": "t.txt" } ],
                    "fields": { "z": "1", "a": ["2", "3"], "n": null } } } ]
                """, request: #""expect": ["2xx"]"#, folder: folder.path)
        guard case .multipart(let body) = request.body else {
            Issue.record("no form")
            return
        }
        #expect(body.parts.map(\.name) == ["z", "a", "a", "f", "t"])
        #expect(body.parts[3].content == .file(path: "\(folder.path)/a.txt", offset: 0, length: 5))
        #expect(body.parts[3].filename == "a.txt")
        #expect(body.parts[3].contentType == "text/x")
        #expect(body.parts[4].filename == "t.txt")
    }

    @Test("one part of a form for each element of an array")
    func each() async throws {
        let folder = TemporaryFolder()
        for name in ["a.txt", "b.txt"] { try folder.write(name, name) }
        let request = try await sent(
            own: """
                [ { "multipart": { "files": [
                      { "name": "f", "file": "${{ item.path }}", "filename": "x-${{ item.path }}",
                        "each": "[{ 'path': 'a.txt' }, { 'path': 'b.txt' }]" },
                      { "name": "last", "text": "t" } ] } } ]
                """, request: #""expect": ["2xx"]"#, folder: folder.path)
        guard case .multipart(let body) = request.body else {
            Issue.record("no form")
            return
        }
        #expect(body.parts.map(\.name) == ["f", "f", "last"])
        #expect(body.parts.map(\.filename) == ["x-a.txt", "x-b.txt", "last"])
        #expect(body.parts[1].content == .file(path: "\(folder.path)/b.txt", offset: 0, length: 5))
    }

    @Test(
        "mistakes in a configuration are told where they stand, with a hint",
        arguments: [
            (#"{ "basic": { "user": "u" } }"#, "'password' is missing"),
            (#"{ "basic": { "user": "u", "password": "p", "x": 1 } }"#, "unknown key 'x'"),
            (#"{ "apiKey": { "value": "k" } }"#, #"stands either in a "header" or in the "query""#),
            (#"{ "apiKey": { "value": "k" } }"#, #"hint: add for example "header": "X-API-Key""#),
            (#"{ "apiKey": { "header": "a", "query": "b", "value": "k" } }"#, "hint: keep one of them"),
            (#"{ "apiKey": { "header": "a b", "value": "k" } }"#, #""a b" is no name of a header"#),
            (#"{ "bearer": 5 }"#, "this must be a string, not a number"),
            (#"{ "bearer": "${{ nope }}" }"#, "nope"),
            (#"{ "multipart": { "files": [ { "name": "f" } ] } }"#, #"either "file" or "text""#),
            (#"{ "multipart": { "files": [ { "name": "f" } ] } }"#, #"hint: add for example "file": "photo.jpg""#),
            (#"{ "multipart": { "files": [ { "name": "f", "file": "${{ item }}" } ] } }"#, "'item' has no value here"),
            (#"{ "jwt": { "algorithm": "ES257", "key": "k" } }"#, "ES257"),
            (#"{ "jwt": { "algorithm": "ES256" } }"#, "'key' is missing"),
            (
                #"{ "jwt": { "algorithm": "ES256", "key": "@k.pem", "claims": "iss" } }"#,
                "an object of names and values"
            ),
            (#"{ "oauth2": { "tokenURL": "http://h/t" } }"#, "'clientID' is missing"),
            (#"{ "oauth2": { "tokenURL": "http://h/t", "refreshToken": "r" } }"#, "'clientID' is missing"),
            (
                #"{ "oauth2": { "tokenURL": "http://h/t", "clientID": "c", "refreshToken": "r", "assertion": { "algorithm": "HS256", "key": "k" } } }"#,
                "not by both"
            ),
            (#"{ "bearer": "x", "basic": {} }"#, "exactly one key"),
        ])
    func mistakes(decorator: String, message: String) {
        let report = StageBench.report(
            #"{ "id": "a", "kind": "compute", "service": "api", "submit": { "POST": "/a", "with": [ \#(decorator) ] } }"#
        )
        #expect(report.contains(message))
    }
}
