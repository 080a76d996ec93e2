import Foundation
import JSONPath
import PipelineTestKit
import Testing

/// Secrets in every encoding that a service may send them back in, and every way that they come to be known.
@Suite("A secret is nowhere, however it is spelt")
struct EncodedSecretTests {
    static let secret = "s3cr3t/Value+with=odd?chars&more~ÿ\"q"
    static let token = "at.9f/88+token=="

    /// The text in plain, base64 of both alphabets, percent-encoding, JSON with all escapes, and hex of both cases.
    static func forms(of text: String) -> [String] {
        let bytes = Data(text.utf8)
        let base64 = bytes.base64EncodedString()
        let unreserved = CharacterSet(
            charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
        let percent = text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
        let hex = bytes.map { String(format: "%02x", $0) }.joined()
        let escaped = text.unicodeScalars.map { scalar in
            scalar == "/" || scalar == "\""
                ? "\\\(scalar)"
                : scalar.isASCII ? String(scalar) : String(format: "\\u%04x", scalar.value)
        }.joined()
        let everyByte = bytes.map { String(format: "%%%02X", $0) }.joined()
        return [
            text, base64, base64.replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_"),
            percent, percent.replacingOccurrences(of: "%", with: "%25"), everyByte, hex, hex.uppercased(), escaped,
            Data("user:\(text)".utf8).base64EncodedString(),
        ]
    }

    private static let document = """
        { "pipeline": 1, "name": "echo", "retry": { "attempts": 2, "delay": "20ms" },
          "services": {
            "api": { "url": "${{ env.SERVER_URL }}", "with": [ { "oauth2": {
              "tokenURL": "${{ env.SERVER_URL }}/token", "clientID": "me", "clientSecret": "${{ secrets.CLIENT }}" } } ] },
            "other": { "url": "${{ env.SERVER_URL }}",
              "with": [ { "basic": { "user": "user", "password": "${{ secrets.CLIENT }}" } } ] } },
          "stages": [
            { "id": "session", "kind": "request", "service": "other", "request": { "GET": "/session" },
              "capture": { "token": { "select": "$.key", "secret": true }, "id": "$.id" } },
            { "id": "job", "kind": "compute", "service": "api", "submit": { "POST": "/jobs",
                "headers": { "X-Session": "${{ stages.session.token }}" }, "capture": { "id": "$.id" } },
              "poll": { "GET": "/jobs/${{ self.id }}", "every": "50ms", "status": "$.state", "succeeded": ["done"],
                        "failed": ["error"], "message": "$.message" } } ] }
        """

    /// A service that sends back all that it was ever sent, in all spellings.
    private static func server() throws -> LoopbackServer {
        let echoes = (forms(of: secret) + forms(of: token) + forms(of: "session-key-77")).joined(separator: " | ")
        let message = JSON.string(echoes).text
        return try LoopbackServer { request in
            switch request.path {
            case "/token": .json(#"{"access_token":"\#(token)","expires_in":3600}"#)
            case "/session": .json(#"{"key":"session-key-77","id":7}"#)
            case "/jobs": .json(#"{"id":1}"#, status: 201)
            case "/jobs/1" where request.number < 6: .json(#"{"state":"busy","message":\#(message)}"#)
            default: .json(#"{"state":"error","message":\#(message)}"#)
            }
        }
    }

    @Test("in the journal, events, logs, errors and what is shown of a job that a service made fail")
    func echoed() async throws {
        let server = try Self.server()
        defer { server.stop() }
        try await withWorkplace { workplace in
            try workplace.write("echo.json", Self.document)
            let variables = ["SERVER_URL": server.url, "PIPELINE_SECRET_CLIENT": Self.secret]
            var ends: [ProgramEnd] = []
            ends.append(try await workplace.run("run", "echo.json", "--json", environment: variables))
            #expect(ends[0].cause == .exited(1), "\(ends[0])")
            ends.append(try await workplace.run("run", "echo.json", environment: variables))
            #expect(ends[1].errors.contains("‹secret:"), "the message is shown without the secrets: \(ends[1])")
            for arguments in [
                ["show", "last"], ["show", "last", "--json"], ["logs", "last"], ["logs", "last", "--json"],
                ["why", "last"],
                ["list", "--json"], ["plan", "echo.json"], ["plan", "echo.json", "--json"],
            ] {
                ends.append(
                    try await workplace.program.run(
                        arguments, environment: workplace.environment(variables), folder: workplace.folder))
            }
            #expect(server.requests.contains { $0.header("Authorization") == "Bearer \(Self.token)" })
            #expect(server.requests.contains { $0.header("X-Session") == "session-key-77" })
            try expectNothing(in: workplace, ends, of: [Self.secret, Self.token])
            // A secret capture is kept, for a resume needs it, and shown nowhere.
            try expectNothing(in: nil, ends, of: ["session-key-77"])
        }
    }

    @Test("in what is left of a process that a signal ended", arguments: [6, 11] as [Int32])
    func crashed(signal: Int32) async throws {
        let server = try LoopbackServer { request in
            request.path == "/token" ? .json(#"{"access_token":"\#(Self.token)"}"#) : .silence
        }
        defer { server.stop() }
        try await withWorkplace { workplace in
            try workplace.write("echo.json", Self.document)
            let program = try workplace.start(
                "run", "echo.json", "--json",
                environment: ["SERVER_URL": server.url, "PIPELINE_SECRET_CLIENT": Self.secret])
            _ = await server.requests(atLeast: 1)
            program.signal(signal)
            let end = await program.end
            #expect(end.cause == .killed(signal), "\(end)")
            try expectNothing(in: workplace, [end], of: [Self.secret, Self.token])
        }
    }

    /// They were shown and kept in clear: of a secret only its encodings are found.
    @Test("in what expressions make of it, in the request and in an answer that repeats it")
    func changed() async throws {
        let server = try LoopbackServer { request in
            let said = JSON.string("\(request.target) \(request.header("Authorization") ?? "")").text
            return .json(#"{"message":\#(said)}"#, status: 422)
        }
        defer { server.stop() }
        let document = """
            { "pipeline": 1, "name": "made", "inputs": { "pair": { "type": "json", "secret": true } },
              "stages": [ { "id": "a", "kind": "request", "request": {
                "GET": "${{ env.SERVER_URL }}/${{ lower(secrets.PAIR) }}",
                "query": { "key": "${{ split(secrets.PAIR, ':')[1] }}", "pin": "${{ inputs.pair.pin + '-x' }}",
                "no": "${{ parse(secrets.OBJECT).number }}" },
                "with": [ { "bearer": "${{ parse(secrets.OBJECT).token }}" } ] } } ] }
            """
        try await withWorkplace { workplace in
            try workplace.write("made.json", document)
            let variables = [
                "SERVER_URL": server.url, "PIPELINE_SECRET_PAIR": "NAME:GeHeim77",
                "PIPELINE_SECRET_OBJECT": #"{"token":"tok-4711","number":73519042}"#,
            ]
            var ends = [
                try await workplace.run(
                    "run", "made.json", "-v", "-i", #"pair={"pin":"90210"}"#, environment: variables)
            ]
            #expect(ends[0].cause == .exited(1) && ends[0].errors.contains("‹secret:PAIR›"), "\(ends[0])")
            for arguments in [["logs", "last", "--curl"], ["logs", "last", "--har"], ["show", "last", "--json"]] {
                ends.append(
                    try await workplace.program.run(
                        arguments, environment: workplace.environment(variables), folder: workplace.folder))
            }
            let sent = try #require(server.requests.first)
            #expect(sent.target == "/name:geheim77?key=GeHeim77&pin=90210-x&no=73519042")
            #expect(sent.header("Authorization") == "Bearer tok-4711")
            for made in ["GeHeim77", "geheim77", "90210-x", "tok-4711", "73519042"] {
                try expectNothing(in: workplace, ends, plain: made)
            }
        }
    }

    @Test("in captures of an answer that repeats it, which the next request gets as they were, also after a kill")
    func captured() async throws {
        let answer = JSON.string(Self.forms(of: Self.secret).joined(separator: " | ")).text
        let server = try LoopbackServer { request in
            request.path == "/list" ? .json(#"{"all":[\#(answer),"plain"],"pin":48151623}"#) : .json("{}")
        }
        defer { server.stop() }
        let document = """
            { "pipeline": 1, "name": "repeat", "services": { "api": { "url": "${{ env.SERVER_URL }}" } },
              "stages": [
                { "id": "list", "kind": "request", "service": "api",
                  "request": { "GET": "/list", "headers": { "X-Key": "${{ secrets.KEY }}", "X-Pin": "${{ secrets.PIN }}" } },
                  "capture": { "all": "$.all", "pin": "$.pin" } },
                { "id": "each", "kind": "request", "service": "api", "forEach": "stages.list.all", "concurrency": 1,
                  "request": { "POST": "/use", "json": { "item": "${{ item }}", "pin": "${{ stages.list.pin }}" } } } ] }
            """
        try await withWorkplace { workplace in
            try workplace.write("repeat.json", document)
            let variables = [
                "SERVER_URL": server.url, "PIPELINE_SECRET_KEY": Self.secret, "PIPELINE_SECRET_PIN": "48151623",
            ]
            let killed = variables.merging(["PIPELINE_CRASH_AT": "submit.intent:1"]) { $1 }
            var ends = [try await workplace.run("run", "repeat.json", environment: killed)]
            #expect(ends[0].cause == .killed(9), "\(ends[0])")
            ends.append(
                try await workplace.program.run(
                    ["resume", "last"], environment: workplace.environment(variables), folder: workplace.folder))
            ends.append(
                try await workplace.program.run(
                    ["show", "last", "--json"], environment: workplace.environment(variables),
                    folder: workplace.folder))
            #expect(ends[1].cause == .exited(0), "\(ends[1])")
            #expect(ends[2].output.contains("‹secret:KEY›") && ends[2].output.contains("‹secret:PIN›"), "\(ends[2])")
            let used = server.requests.filter { $0.path == "/use" }.map { String(decoding: $0.body, as: UTF8.self) }
            #expect(Set(used) == [#"{"item":\#(answer),"pin":48151623}"#, #"{"item":"plain","pin":48151623}"#])
            try expectNothing(in: workplace, ends, of: [Self.secret])
            try expectNothing(in: workplace, ends, plain: "48151623")
        }
    }

    /// A page of seven, whose next URL repeats the key; each third request fails.
    private static func page(for request: ReceivedRequest) -> ScriptedAnswer {
        if request.number.isMultiple(of: 3) { return .status(500) }
        let mark = request.target.firstRange(of: "page=")
        let page = mark.flatMap { Int(request.target[$0.upperBound...].prefix { $0.isNumber }) } ?? 1
        let next = page < 7 ? "\"/list?page=\(page + 1)&key=list-key%2F0815\"" : "null"
        return .json("{\"data\":[\(page)],\"next\":\(next)}")
    }

    // No page was ever kept, and each attempt began with the first one.
    @Test("in the next URL of a list that is broken off again and again, which goes on there all the same")
    func nextPages() async throws {
        let key = "list-key/0815"
        let server = try LoopbackServer { Self.page(for: $0) }
        defer { server.stop() }
        let document = """
            { "pipeline": 1, "name": "list", "retry": { "attempts": 2, "delay": "20ms" },
              "services": { "api": { "url": "${{ env.SERVER_URL }}",
                "with": [ { "apiKey": { "query": "key", "value": "${{ secrets.KEY }}" } } ] } },
              "stages": [
                { "id": "list", "kind": "request", "service": "api", "request": { "GET": "/list" },
                  "capture": { "all": "$items" },
                  "paginate": { "items": "$.data[*]", "next": { "url": "$.next" } } } ] }
            """
        try await withWorkplace { workplace in
            try workplace.write("list.json", document)
            let variables = ["SERVER_URL": server.url, "PIPELINE_SECRET_KEY": key]
            let end = try await workplace.run("run", "list.json", environment: variables)
            #expect(end.cause == .exited(0), "\(end)")
            #expect(server.requests.count == 10)
            for form in [key, "list-key%2F0815"] { try expectNothing(in: workplace, [end], plain: form) }
        }
    }

    // Such a list began with its first page again and again, and never ended.
    @Test("in the next URL of a list that repeats a token which a stage captured")
    func capturedTokens() async throws {
        let server = try LoopbackServer { request in
            request.path == "/login" ? .json(#"{"token":"list-key/0815"}"#) : Self.page(for: request)
        }
        defer { server.stop() }
        let document = """
            { "pipeline": 1, "name": "list", "retry": { "attempts": 2, "delay": "20ms" },
              "services": { "api": { "url": "${{ env.SERVER_URL }}" } },
              "stages": [
                { "id": "login", "kind": "request", "service": "api", "request": { "GET": "/login" },
                  "capture": { "token": { "select": "$.token", "secret": true } } },
                { "id": "list", "kind": "request", "service": "api", "request": { "GET": "/list" },
                  "with": [ { "apiKey": { "query": "key", "value": "${{ stages.login.token }}" } } ],
                  "capture": { "all": "$items" },
                  "paginate": { "items": "$.data[*]", "next": { "url": "$.next" } } } ] }
            """
        try await withWorkplace { workplace in
            try workplace.write("list.json", document)
            let end = try await workplace.run("run", "list.json", environment: ["SERVER_URL": server.url])
            #expect(end.cause == .exited(0), "\(end)")
            #expect(server.requests.count == 11)
            try expectNothing(in: workplace, [end], plain: "list-key%2F0815")
        }
    }

    private func expectNothing(in workplace: Workplace?, _ ends: [ProgramEnd], of secrets: [String]) throws {
        for form in secrets.flatMap(Self.forms) { try expectNothing(in: workplace, ends, plain: form) }
    }

    private func expectNothing(in workplace: Workplace?, _ ends: [ProgramEnd], plain form: String) throws {
        let bytes = Data(form.utf8)
        for name in workplace?.files(below: workplace?.state ?? "") ?? [] {
            let content = FileManager.default.contents(atPath: (workplace?.state ?? "") + "/" + name) ?? Data()
            #expect(content.range(of: bytes) == nil, "\(form) in \(name)")
        }
        for end in ends { #expect(!(end.output + end.errors).contains(form), "\(form) in \(end)") }
    }
}
