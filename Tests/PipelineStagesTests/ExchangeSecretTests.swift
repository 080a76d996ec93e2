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

    /// The length of what was left was once compared with that of the body.
    @Test("makes no whole body look cut, and no cut one whole", arguments: [true, false])
    func isWhole(isWhole: Bool) async throws {
        // What stands for a secret is shorter than a long one, and longer than a short one.
        let token = isWhole ? String(repeating: "t0ps3cret", count: 30) : "t0p1"
        let rest = isWhole ? "" : String(repeating: "t0p1 ", count: 12_000)
        let service = ScriptedService()
        service.on("GET /v1/login", 200, #"{ "token": "\#(token)", "rest": "\#(rest)" }"#)
        let bench = try StageBench(
            """
            { "id": "a", "kind": "request", "service": "api", "request": { "GET": "/login",
              "capture": { "token": { "select": "$.token", "secret": true } } } }
            """, network: service.network)
        #expect(await bench.resume().isFinished)
        let record = try #require(bench.host.read { $0.exchanges.first })
        #expect(record.answer?.body.text?.contains("‹secret:") == true)
        #expect(record.answer?.body.isWhole == isWhole)
        let kept = try #require(ExchangeRecord(json: record.json))
        #expect(kept.answer?.body.isWhole == isWhole)
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
