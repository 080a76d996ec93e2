import JSONPath
import PipelineCore
import PipelineHTTP
import Testing

@Suite("A captured secret in what is kept of exchanges")
struct ExchangeSecretTests {
    private func texts(_ bench: StageBench) -> String {
        bench.host.read { $0.exchanges }.map { "\($0)" }.joined(separator: "\n")
    }

    @Test(
        "stands in none of them, not in the one of the response that gave it",
        arguments: [
            #""capture": { "token": { "select": "$.token", "secret": true } }, "request": { "GET": "/login" }"#,
            #""request": { "GET": "/login", "capture": { "token": { "select": "$.token", "secret": true } } }"#,
            #""request": { "GET": "/login", "capture": { "all": { "select": "$", "secret": true } } }"#,
            #""capture": { "token": { "select": "header:X-Token", "secret": true } }, "request": { "GET": "/login" }"#,
        ])
    func response(request: String) async throws {
        let service = ScriptedService()
        service.on("GET /v1/login", 200, #"{ "token": "t0ps3cret-4711" }"#, headers: ["X-Token": "t0ps3cret-4711"])
        let bench = try StageBench(
            #"{ "id": "a", "kind": "request", "service": "api", \#(request) }"#, network: service.network)
        #expect(await bench.resume().isFinished)
        #expect(bench.host.read { $0.exchanges.count } == 1)
        #expect(!texts(bench).contains("t0ps3cret"))
        #expect(texts(bench).contains("‹secret:"))
    }

    @Test("stands in none when a lost submit is found in a list")
    func lookUp() async throws {
        let service = ScriptedService()
        service.on("POST /v1/jobs", fails: .timedOut(.idle))
        service.on("GET /v1/jobs", 200, #"{ "jobs": [ { "name": "n", "token": "t0ps3cret-4711" } ] }"#)
        let bench = try StageBench(
            """
            { "id": "a", "kind": "request", "service": "api", "request": { "POST": "/jobs",
              "capture": { "token": { "select": "$.token", "secret": true } },
              "once": { "match": { "list": { "GET": "/jobs" }, "items": "$.jobs[*]", "where": "item.name == 'n'" } } } }
            """, network: service.network)
        for _ in 0..<3 { await bench.resume() }
        #expect(bench.captures["token"] == "t0ps3cret-4711")
        #expect(bench.host.read { $0.exchanges.count } == 2)
        #expect(!texts(bench).contains("t0ps3cret"))
    }

    @Test("stands in none of the pages of a list, and in no checkpoint of it")
    func pages() async throws {
        let service = ScriptedService()
        service.on("GET /v1/keys", 200, #"{ "data": [ { "key": "t0ps3cret-4711" } ], "next": "/v1/more" }"#)
        service.on("GET /v1/more", 200, #"{ "data": [ { "key": "t0ps3cret-4712" } ] }"#)
        let bench = try StageBench(
            """
            { "id": "a", "kind": "request", "service": "api", "request": { "GET": "/keys" },
              "capture": { "keys": { "select": "$items[*].key", "all": true, "secret": true } },
              "paginate": { "items": "$.data[*]", "next": { "url": "$.next" } } }
            """, network: service.network)
        #expect(await bench.resume().isFinished)
        #expect(bench.captures["keys"] == ["t0ps3cret-4711", "t0ps3cret-4712"])
        #expect(!texts(bench).contains("t0ps3cret"))
        let checkpoint = bench.host.read { $0.checkpoint } ?? []
        #expect(!String(decoding: checkpoint, as: UTF8.self).contains("t0ps3cret"))
    }
}
