import JSONPath
import PipelineCore
import PipelineKit
import Testing

@testable import PipelineCommands

/// What curl commands become; each document is planned.
@Suite("From curl to a document") struct CurlDocumentTests {
    private func document(_ commands: String...) throws -> (json: JSON, text: String) {
        let text = try CurlDocument(commands, name: "made").text()
        let source = SourceText(name: "made.json", text: text)
        let settings = Settings(stateFolder: "/nonexistent", secretsFile: nil, environment: [:])
        do throws(DefinitionError) {
            _ = try Planner(catalogue: Workspace(settings: settings).catalogue).plan(source)
        } catch {
            Issue.record("\(error.report)\n\(text)")
        }
        return (try JSONNode.parse(source).json, text)
    }

    @Test("one command is a request: its body, its headers, and its credentials as secrets")
    func request() throws {
        let (json, text) = try document(
            """
            curl https://api.openai.com/v1/embeddings \\
              -H "Content-Type: application/json" \\
              -H "Authorization: Bearer $OPENAI_API_KEY" -H 'X-Trace: 1' \\
              -d '{ "input": "text", "model": "small" }'
            """)
        #expect(json["services"]?["openai"]?["url"] == "https://api.openai.com")
        #expect(json["services"]?["openai"]?["with"]?[0]?["bearer"] == "${{ secrets.OPENAI_API_KEY }}")
        let request = json["stages"]?[0]?["request"]
        #expect(request?["POST"] == "/v1/embeddings" && request?["json"]?["model"] == "small", "\(text)")
        #expect(request?["headers"] == ["X-Trace": "1"], "\(text)")
    }

    @Test("no value of a credential stands in the document, wherever the command has it")
    func secrets() throws {
        let (_, text) = try document(
            """
            curl 'https://u:hidden1@api.example.com/x?api_key=hidden2&page=1' -u me:hidden3 -H 'x-api-key: hidden4' \
              -b 'sid=hidden5' -H 'Authorization: Token hidden6' --json '{"password":"hidden7","a":1}'
            """)
        #expect(!text.contains("hidden"), "\(text)")
        for name in ["EXAMPLE_API_KEY", "EXAMPLE_PASSWORD", "EXAMPLE_X_API_KEY"] {
            #expect(text.contains(name), "\(text)")
        }
    }

    /// Such a header once became a secret of the service: each later order had the key of the first, and its result.
    @Test("the key of one order becomes a key of each, and goes with nothing else")
    func orderKeys() throws {
        let key = "-H 'Idempotency-Key: 7f1e' -H 'X-Request-Id: r-7f1e'"
        let (json, text) = try document(
            "curl https://api.example.com/jobs \(key) -d '{\"a\":1}'", "curl https://api.example.com/jobs/j1 \(key)")
        #expect(json["stages"]?[0]?["submit"]?["once"] == ["key": "Idempotency-Key"], "\(text)")
        #expect(json["services"]?["example"] == ["url": "https://api.example.com"], "\(text)")
        #expect(json["stages"]?[0]?["poll"]?["headers"] == nil && !text.contains("7f1e"), "\(text)")
        #expect(text.contains("// left out: Idempotency-Key, which names one order, and this request makes none"))
        #expect(text.contains("// left out: X-Request-Id, which names one request"))
        let single = try document("curl https://api.example.com/pay -H 'idempotency-key: $KEY' -d '{\"a\":1}'")
        #expect(single.json["stages"]?[0]?["request"]?["once"] == ["key": "idempotency-key"], "\(single.text)")
        #expect(!single.text.contains("KEY }}"), "\(single.text)")
    }

    @Test("submit, poll and download become a job that is asked by its id, and its result")
    func job() throws {
        let (json, text) = try document(
            "curl -X POST https://api.example.com/v1/jobs -H 'Authorization: Bearer x' -d @order.json",
            "curl https://api.example.com/v1/jobs/job_8a7b -H 'Authorization: Bearer x'",
            "curl -L -o result.mp4 https://cdn.example.com/files/abc")
        let (job, download) = (json["stages"]?[0], json["stages"]?[1])
        #expect(job?["kind"] == "compute" && job?["submit"]?["file"] == "${{ inputs.order }}", "\(text)")
        #expect(job?["poll"]?["GET"] == "/v1/jobs/${{ self.id }}", "\(text)")
        #expect(download?["request"]?["GET"] == "${{ stages.job.url }}" && download?["to"] == "result.mp4", "\(text)")
        #expect(json["inputs"]?["order"]?["type"] == "file" && text.contains("// guess"), "\(text)")
    }

    @Test("a download whose address has the job's id needs no captured link")
    func downloadById() throws {
        let (json, text) = try document(
            "curl -F file=@me.mov -F 'quality=high' $api/jobs", "curl $api/jobs/$id",
            "curl -o out.zip $api/jobs/$id/result")
        #expect(json["services"]?["api"]?["url"] == "${{ env.api }}")
        let multipart = json["stages"]?[0]?["submit"]?["with"]?[0]?["multipart"]
        #expect(multipart?["files"]?[0] == ["name": "file", "file": "${{ inputs.me }}"], "\(text)")
        #expect(multipart?["fields"] == ["quality": "high"], "\(text)")
        #expect(json["stages"]?[0]?["poll"]?["GET"] == "/jobs/${{ self.id }}", "\(text)")
        #expect(json["stages"]?[1]?["request"]?["GET"] == "/jobs/${{ stages.job.id }}/result", "\(text)")
    }

    @Test("an input is called as the field that sends it, and a secret has the service's name once")
    func names() throws {
        let (json, text) = try document(
            "curl -F image=@a.png -H 'X-Api-Key: k' http://127.0.0.1:8099/thumbs",
            "curl http://127.0.0.1:8099/thumbs/th_1")
        #expect(json["inputs"]?["image"]?["type"] == "file" && text.contains("secrets.X_API_KEY }}"), "\(text)")
        #expect(json["stages"]?[0]?["poll"]?["succeeded"]?.array?.contains("ready") == true, "\(text)")
    }

    @Test("what a browser copies is read: its quotes, and without the headers that it adds")
    func browser() throws {
        let (json, text) = try document(
            #"""
            curl 'https://app.example.com/api/items?q=a%20b&q=c' \
              -H 'accept: */*' -H 'accept-language: en-US,en;q=0.9' -H 'cookie: session=abc' \
              -H 'sec-ch-ua: "Chromium";v="130"' -H 'user-agent: Mozilla/5.0' \
              --data-raw $'{"text":"it\'s \u00fc"}' --compressed
            """#)
        let request = json["stages"]?[0]?["request"]
        #expect(request?["query"] == ["q": ["a b", "c"]] && request?["json"] == ["text": "it's ü"], "\(text)")
        #expect(request?["headers"] == ["accept": "*/*"] && !text.contains("session=abc"), "\(text)")
        #expect(text.contains("// left out, as browsers add them: accept-language, sec-ch-ua, user-agent"), "\(text)")
    }

    @Test("forms, queries and uploads have their own members")
    func bodies() throws {
        let form = try document("curl https://h.example/x -d a=1 --data-urlencode 'b=c d&e' -d c=%41+b")
        #expect(form.json["stages"]?[0]?["request"]?["form"] == ["a": "1", "b": "c d&e", "c": "A b"], "\(form.text)")
        let query = try document("curl -G https://h.example/x -d a=1 -d b=2")
        #expect(query.json["stages"]?[0]?["request"]?["GET"] == "/x", "\(query.text)")
        #expect(query.json["stages"]?[0]?["request"]?["query"] == ["a": "1", "b": "2"], "\(query.text)")
        let upload = try document("curl -sSfT ./me.mov 'https://h.example/up load/${{x}}'")
        #expect(upload.json["stages"]?[0]?["kind"] == "upload", "\(upload.text)")
        #expect(upload.json["stages"]?[0]?["file"] == "${{ inputs.me }}", "\(upload.text)")
        #expect(upload.json["stages"]?[0]?["request"]?["PUT"] == "/up%20load/%24%7B%7Bx%7D%7D", "\(upload.text)")
        let braces = try document(#"curl https://h.example/x -d '{"text":"Hello {{name}}"}'"#)
        #expect(braces.text.contains("${{ '{{' }}name}}"), "\(braces.text)")
        let text = try document("curl https://h.example/x -H 'Content-Type: text/csv' --data-binary 'a,b'")
        #expect(text.json["stages"]?[0]?["request"]?["text"] == "a,b", "\(text.text)")
        let delete = try document("curl -XDELETE https://h.example/x/1")
        #expect(delete.json["stages"]?[0]?["request"]?["DELETE"] == "/x/1", "\(delete.text)")
    }

    @Test("unknown options are named in a comment and left out")
    func unknown() throws {
        let (json, text) = try document("curl --frobnicate 7 -m 10 -k --retry=3 https://h.example/x | jq .")
        #expect(json["stages"]?[0]?["request"]?["GET"] == "/x", "\(text)")
        for option in ["--frobnicate", "-m 10", "-k", "| jq ."] {
            #expect(text.contains("\(option)"), "\(option): \(text)")
        }
    }

    @Test(
        "what is no command is refused with a hint",
        arguments: [
            ("wget https://h.example", "this is no curl command"), ("curl -s", "names no URL"),
            ("", "this is no curl command"),
            ("curl ftp://h.example/x", "is no address of HTTP"), ("curl 'https://h.example", "is not closed"),
        ])
    func refused(command: String, message: String) {
        let mistake = #expect(throws: CurlMistake.self) { try CurlDocument([command], name: "made").text() }
        #expect(
            mistake?.message.contains(message) == true && mistake?.hint.isEmpty == false, "\(mistake?.message ?? "")")
    }

    @Test("four commands are too many")
    func tooMany() {
        #expect(throws: CurlMistake.self) {
            try CurlDocument(Array(repeating: "curl https://h.example", count: 4), name: "made").text()
        }
    }
}

extension JSON {
    /// The element of an array; nil for anything else.
    fileprivate subscript(index: Int) -> JSON? { array.flatMap { $0.indices.contains(index) ? $0[index] : nil } }
}
