import Foundation
import JSONPath
import PipelineCore
import PipelineKit
import PipelineTestKit
import Testing

/// What `logs --curl` and `logs --har` show of what went over the wire.
@Suite("The exchanges of a job", .timeLimit(.minutes(2))) struct ExchangeLogTests {
    private func run(
        _ arguments: [String], in bench: ExampleBench, environment more: [String: String] = [:]
    ) async throws -> ProgramEnd {
        try await BuiltProgram(named: "pipeline").run(
            arguments, environment: BuiltProgram.environment(home: bench.folder, more), folder: bench.folder)
    }

    /// Runs a job that sends a secret in every way, and gets it back; then one answer is long and one is none.
    private func job(in bench: ExampleBench, _ server: LoopbackServer) async throws {
        try """
        { "pipeline": 1, "name": "talk", "retry": { "attempts": 1, "for": "10ms" },
          "services": { "s": { "url": "\(server.url)", "with": [ { "bearer": "${{ secrets.TOKEN }}" } ] } },
          "stages": [
            { "id": "post", "kind": "request", "service": "s",
              "request": { "POST": "/echo", "query": { "k": "${{ secrets.TOKEN }}", "a": "it's" },
                           "json": { "t": "${{ secrets.TOKEN }}", "n": 1 } } },
            { "id": "get", "kind": "request", "request": { "GET": "\(server.url)/plain?x=y",
                "headers": { "X-Note": "it's \\"quoted\\" $HOME", "Authorization": "Basic bm9ib2R5OmtlcHQ=",
                "X-Joined": "a'\\u0301;exit 3 #" } } },
            { "id": "up", "kind": "upload", "service": "s", "file": "notes.txt", "protocol": "put",
              "request": { "PUT": "/echo" } },
            { "id": "down", "kind": "download", "request": { "GET": "\(server.url)/down" }, "to": "plain.json" },
            { "id": "picture", "kind": "request", "request": { "GET": "\(server.url)/picture" }, "to": "picture.png" },
            { "id": "tones", "kind": "request", "request": { "GET": "\(server.url)/tones" }, "to": "tones.bin" },
            { "id": "leak", "kind": "request", "request": { "GET": "\(server.url)/leak" }, "to": "leak.bin" },
            { "id": "hidden", "kind": "request", "request": { "GET": "\(server.url)/hidden" }, "to": "hidden.bin" },
            { "id": "many", "kind": "request", "request": { "GET": "\(server.url)/many" } },
            { "id": "long", "kind": "request", "request": { "GET": "\(server.url)/long" } },
            { "id": "cut", "kind": "request", "request": { "GET": "\(server.url)/cut" } } ] }
        """.write(toFile: bench.folder + "/talk.json", atomically: true, encoding: .utf8)
        try "what I said: sesame-open-sesame".write(
            toFile: bench.folder + "/notes.txt", atomically: true, encoding: .utf8)
        let end = try await run(
            ["run", "talk.json"], in: bench, environment: ["PIPELINE_SECRET_TOKEN": "sesame-open-sesame"])
        #expect(end.cause != .exited(0))
    }

    private static let picture: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0xFF, 0xFE, 7]

    private func server() throws -> LoopbackServer {
        try LoopbackServer { request in
            switch request.path {
            case "/echo":
                ScriptedAnswer([
                    .readBody,
                    .then { request in
                        let headers = [("Content-Type", "application/json"), ("Set-Cookie", "id=7")]
                        return ScriptedAnswer([.send(201, headers, request.body)])
                    },
                ])
            case "/picture": .status(200, headers: [("Content-Type", "image/png")], bytes: Self.picture)
            case "/tones": .status(200, headers: [("Content-Type", "text/plain")], bytes: [7, 7, 9, 7])
            case "/leak":
                .status(
                    200, headers: [("Content-Type", "image/png")],
                    bytes: Self.picture + Array("sesame-open-sesame".utf8))
            // The secret in base64, in the middle of bytes that are no text.
            case "/hidden":
                .status(
                    200, headers: [("Content-Type", "image/png")],
                    bytes: Self.picture + Array("xxc2VzYW1lLW9wZW4tc2VzYW1l".utf8))
            case "/long":
                .status(200, headers: [("Content-Type", "text/plain")], body: String(repeating: "é", count: 60_000))
            // What is kept of it ends in the middle of a secret, and is shorter than the limit once the others are out.
            case "/many": .status(200, body: String(repeating: "sesame-open-sesame ", count: 4000))
            case "/cut": ScriptedAnswer([.readBody, .reset])
            default: .json(#"{"ok":true}"#)
            }
        }
    }

    @Test("an archive has every member that HAR 1.2 demands, the times of libcurl, and no secret")
    func archive() async throws {
        let bench = try ExampleBench()
        defer { bench.remove() }
        let server = try server()
        defer { server.stop() }
        try await job(in: bench, server)
        let end = try await run(["logs", "last", "--har", "out.har"], in: bench)
        #expect(end.cause == .exited(0), "\(end)")
        let text = try String(contentsOfFile: bench.folder + "/out.har", encoding: .utf8)
        #expect(!text.contains("sesame") && !text.contains("bm9ib2R5") && !text.contains("id=7"))
        let log = try #require(try JSON.parse(text)["log"])
        #expect(log["version"] == "1.2" && log["creator"]?["name"] == "pipeline")
        let entries = try #require(log["entries"]?.array)
        #expect(entries.count >= 4)
        for entry in entries { try Self.check(entry) }
        #expect(Self.mistakes(of: try JSON.parse(text)) == [])
        #expect(entries[0]["request"]?["httpVersion"] == "HTTP/1.1")
        #expect(entries[0]["timings"]?["send"]?.number.map { $0.double > 0 } == true)
        let up = try #require(entries.first { $0["comment"] == "up" })
        #expect(up["request"]?["postData"]?["text"] == "what I said: ‹secret:TOKEN›")
        #expect(up["request"]?["postData"]?["comment"]?.string?.hasSuffix("/notes.txt") == true)
        let down = try #require(entries.first { $0["comment"] == "down" })
        #expect(down["response"]?["content"]?["text"] == #"{"ok":true}"#)
        #expect(
            entries[0]["request"]?["url"]?.string?.hasPrefix("\(server.url)/echo?k=%E2%80%B9secret") == true
                || entries[0]["request"]?["url"]?.string?.hasPrefix("\(server.url)/echo?k=‹secret:TOKEN›") == true)
        #expect(entries[0]["request"]?["postData"]?["text"] == #"{"t":"‹secret:TOKEN›","n":1}"#)
        #expect(entries[0]["response"]?["status"] == 201)
        #expect(entries[0]["response"]?["content"]?["text"] == #"{"t":"‹secret:TOKEN›","n":1}"#)
        let long = try #require(entries.first { $0["comment"] == "long" })
        #expect(long["response"]?["content"]?["size"] == 120_000)
        #expect(long["response"]?["content"]?["text"]?.string?.utf8.count == 65_536)
        #expect(long["response"]?["content"]?["comment"] == "the first of 120000 bytes")
        let picture = entries.first { $0["comment"] == "picture" }?["response"]?["content"]
        #expect(picture?["encoding"] == "base64" && picture?["mimeType"] == "image/png")
        #expect(picture?["text"]?.string.flatMap { Data(base64Encoded: $0) } == Data(Self.picture))
        // Valid UTF-8, and yet nothing that a person could read.
        let tones = entries.first { $0["comment"] == "tones" }?["response"]?["content"]
        #expect(tones?["encoding"] == "base64" && tones?["text"] == "BwcJBw==")
        for stage in ["leak", "hidden"] {
            let content = try #require(entries.first { $0["comment"]?.string == stage }?["response"]?["content"])
            #expect(content["text"] == nil && content["comment"] == "the body is not kept", "\(stage)")
        }
        let cut = try #require(entries.first { $0["comment"]?.string?.hasPrefix("cut: ") == true })
        #expect(cut["response"]?["status"] == 0)
        let kept = try FileManager.default.contentsOfDirectory(atPath: bench.folder + "/state/exchanges")
        #expect(kept.count == 1)
    }

    /// Returns what of the archive breaks the schema of HAR 1.2: every member that the specification demands, and their
    /// types.
    private static func mistakes(of archive: JSON) -> [String] {
        let fields: JSON = [
            "type": "array",
            "items": [
                "type": "object", "required": ["name", "value"],
                "properties": ["name": ["type": "string"], "value": ["type": "string"]],
            ],
        ]
        let time: JSON = ["type": "number", "minimum": 0]
        let optionalTime: JSON = ["type": "number", "minimum": -1]
        let request: JSON = [
            "type": "object",
            "required": [
                "method", "url", "httpVersion", "cookies", "headers", "queryString", "headersSize", "bodySize",
            ],
            "properties": [
                "method": ["type": "string"], "url": ["type": "string", "pattern": "^https?://"],
                "httpVersion": ["type": "string"], "cookies": ["type": "array"], "headers": fields,
                "queryString": fields, "headersSize": ["type": "integer"], "bodySize": ["type": "integer"],
                "postData": [
                    "type": "object", "required": ["mimeType", "params", "text"],
                    "properties": [
                        "mimeType": ["type": "string"], "text": ["type": "string"], "params": ["type": "array"],
                        "comment": ["type": "string"],
                    ],
                ],
            ],
        ]
        let response: JSON = [
            "type": "object",
            "required": [
                "status", "statusText", "httpVersion", "cookies", "headers", "content", "redirectURL", "headersSize",
                "bodySize",
            ],
            "properties": [
                "status": ["type": "integer"], "statusText": ["type": "string"], "httpVersion": ["type": "string"],
                "cookies": ["type": "array"], "headers": fields, "redirectURL": ["type": "string"],
                "headersSize": ["type": "integer"], "bodySize": ["type": "integer"],
                "content": [
                    "type": "object", "required": ["size", "mimeType"],
                    "properties": [
                        "size": ["type": "integer", "minimum": 0], "mimeType": ["type": "string"],
                        "text": ["type": "string"], "comment": ["type": "string"],
                        "encoding": ["const": "base64"],
                    ],
                ],
            ],
        ]
        let timings: JSON = [
            "type": "object", "required": ["send", "wait", "receive"],
            "properties": [
                "blocked": optionalTime, "dns": optionalTime, "connect": optionalTime, "ssl": optionalTime,
                "send": time, "wait": time, "receive": time,
            ],
        ]
        let entry: JSON = [
            "type": "object", "required": ["startedDateTime", "time", "request", "response", "cache", "timings"],
            "properties": [
                "startedDateTime": [
                    "type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}([.][0-9]+)?(Z|[+-][0-9:]{5})$",
                ],
                "time": time, "request": request, "response": response, "cache": ["type": "object"],
                "timings": timings, "comment": ["type": "string"],
            ],
        ]
        let schema: JSON = [
            "type": "object", "required": ["log"],
            "properties": [
                "log": [
                    "type": "object", "required": ["version", "creator", "entries"],
                    "properties": [
                        "version": ["const": "1.2"],
                        "creator": ["type": "object", "required": ["name", "version"]],
                        "entries": ["type": "array", "items": entry],
                    ],
                ]
            ],
        ]
        return JSONSchema(schema).mistakes(in: archive).map { "\($0)" }
    }

    private static func check(_ entry: JSON) throws {
        for name in ["startedDateTime", "time", "request", "response", "cache", "timings"] {
            #expect(entry[name] != nil)
        }
        for name in ["method", "url", "httpVersion", "cookies", "headers", "queryString", "headersSize", "bodySize"] {
            #expect(entry["request"]?[name] != nil, "\(name)")
        }
        for name in ["status", "statusText", "httpVersion", "cookies", "headers", "content", "redirectURL", "bodySize"]
        {
            #expect(entry["response"]?[name] != nil, "\(name)")
        }
        let times = try #require(entry["timings"]?.object)
        // `ssl` is a part of `connect`; -1 is what did not take place.
        let sum = times.filter { $0.name != "ssl" }.reduce(0.0) { $0 + max(0, $1.value.number?.double ?? 0) }
        let whole = try #require(entry["time"]?.number?.double)
        #expect(abs(sum - whole) < 0.01, "\(times) are not \(whole)")
        if entry["response"]?["status"] != 0 { #expect(whole > 0) }
    }

    @Test(
        "a curl line sends the same request again",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/curl"), "needs curl"))
    func curl() async throws {
        let bench = try ExampleBench()
        defer { bench.remove() }
        let server = try server()
        defer { server.stop() }
        try await job(in: bench, server)
        let end = try await run(["logs", "last", "--curl"], in: bench)
        #expect(end.cause == .exited(0), "\(end)")
        #expect(!end.output.contains("sesame"))
        let line = try #require(end.lines.first { $0.contains("/plain") && !$0.hasPrefix("#") })
        #expect(line.contains("Authorization: Basic ‹redacted›"))
        let before = try #require(server.requests.last { $0.path == "/plain" })
        let again = try await BuiltProgram(path: "/bin/sh").run(
            ["-c", line.replacing("‹redacted›", with: "again")], environment: ["PATH": "/usr/bin:/bin"])
        #expect(again.output == #"{"ok":true}"#, "\(again)")
        let after = try #require(server.requests.last { $0.path == "/plain" })
        #expect(after.number > before.number && after.target == before.target && after.method == before.method)
        #expect(after.header("X-Note") == before.header("X-Note"))
        // A quote with an accent on it is one character to Swift, and ends a word all the same.
        let joined = try #require(before.header("X-Joined"))
        #expect(joined.unicodeScalars.contains("'") && after.header("X-Joined") == joined)
    }

    /// With -X HEAD curl waited for a body.
    @Test("a curl line asks as the request did", arguments: [("GET", "-L"), ("HEAD", "--head -L"), ("PUT", "-X PUT")])
    func method(name: String, words: String) {
        let record = ExchangeRecord(
            step: StepKey(stage: "a"), attempt: 1, started: Timestamp(milliseconds: 0), method: name, url: "http://h/x",
            headers: [], body: nil)
        #expect(CurlLine(record: record).text.hasSuffix("\ncurl \(words) 'http://h/x'"))
    }

    @Test("the last hundred of each stage are kept, and prune forgets them")
    func kept() throws {
        let bench = try ExampleBench()
        defer { bench.remove() }
        let files = ExchangeFiles(stateFolder: bench.folder)
        let job = JobID(at: Timestamp(milliseconds: 0), random: (1, 2))
        func append(_ stage: String, _ number: Int) {
            files.append(
                ExchangeRecord(
                    step: StepKey(stage: stage), attempt: 1, started: Timestamp(milliseconds: 0), method: "GET",
                    url: "http://h/\(number)", headers: [], body: nil), of: job)
        }
        for number in 0..<5 { append("rare", number) }
        for number in 0..<1200 { append("often", number) }
        let records = files.records(of: job)
        #expect(records.filter { $0.step.stage == "rare" }.map(\.url).count == 5)
        #expect(records.filter { $0.step.stage == "often" }.map(\.url) == (1100..<1200).map { "http://h/\($0)" })
        let size = try #require(
            FileManager.default.attributesOfItem(atPath: "\(bench.folder)/exchanges/\(job.text).jsonl")[.size] as? Int)
        #expect(size < 600 * 300)
        // What is still in memory is written when the job rests.
        append("rare", 5)
        #expect(ExchangeFiles(stateFolder: bench.folder).records(of: job).count == records.count)
        files.flush(job)
        #expect(ExchangeFiles(stateFolder: bench.folder).records(of: job).count == records.count + 1)
        // Another process goes on in the same file.
        #expect(ExchangeFiles(stateFolder: bench.folder).records(of: job) == files.records(of: job))
        files.remove(job)
        #expect(files.records(of: job).isEmpty)
    }

    /// With five stages and more each write was followed by another cut: as many lines are kept then as a file may have.
    @Test("a file with many stages is not written again for each exchange")
    func cutsSeldom() throws {
        let bench = try ExampleBench()
        defer { bench.remove() }
        let files = ExchangeFiles(stateFolder: bench.folder)
        let job = JobID(at: Timestamp(milliseconds: 0), random: (1, 2))
        var inodes: Set<Int> = []
        for number in 0..<1500 {
            files.append(
                ExchangeRecord(
                    step: StepKey(stage: "s\(number % 8)"), attempt: 1, started: Timestamp(milliseconds: 0),
                    method: "GET",
                    url: "http://h/\(number)", headers: [], body: nil), of: job)
            guard number % 5 == 0 else { continue }
            files.flush(job)
            let path = "\(bench.folder)/exchanges/\(job.text).jsonl"
            inodes.insert(try #require(FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int))
        }
        #expect(files.records(of: job).count == 800)
        #expect(inodes.count < 10, "\(inodes.count)")
    }
}
