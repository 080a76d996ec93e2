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

    /// The response was once in no file and no capture: a transcript was paid for, and thrown away.
    @Test("what a single command prints goes to a file, which is a guess")
    func printed() throws {
        for options in ["", "-F file=@a.mp3 -F model=small", "-X DELETE", "-d a=1"] {
            let (json, text) = try document("curl https://h.example/x \(options)")
            #expect(json["stages"]?[0]?["to"] == "response.json", "\(text)")
            #expect(text.contains("// guess: the file for the response"), "\(text)")
        }
        let named = try document("curl https://h.example/x -d a=1 -o speech.mp3")
        #expect(named.json["stages"]?[0]?["to"] == "speech.mp3" && !named.text.contains("// guess"), "\(named.text)")
        let head = try document("curl -I https://h.example/x")
        #expect(head.json["stages"]?[0]?["to"] == nil, "\(head.text)")
        let asked = try document("curl https://h.example/x -d a=1", "curl -o x.bin https://h.example/y")
        #expect(asked.json["stages"]?[0]?["to"] == nil, "\(asked.text)")
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

    /// The secret key itself once went to the service, as a password, and each order had the token of the first.
    @Test("a signature of AWS is made by its decorator, and its token of one order is one of each")
    func signature() throws {
        let (json, text) = try document(
            """
            curl https://athena.eu-west-1.amazonaws.com/ --aws-sigv4 'aws:amz' --user AKIAX:hidden \
              -H 'X-Amz-Target: AmazonAthena.StartQueryExecution' -H 'Content-Type: application/x-amz-json-1.1' \
              -d '{"QueryString":"SELECT 1","ClientRequestToken":"3f2c5a1e-9d1b-4a51-8a3e-0c4d5e6f7a8b"}'
            """)
        let signing = json["services"]?["amazonaws"]?["with"]?[0]?["sigv4"]
        #expect(signing?["region"] == "eu-west-1" && signing?["service"] == "athena", "\(text)")
        #expect(signing?["secretKey"] == "${{ secrets.AMAZONAWS_SECRET_KEY }}" && !text.contains("hidden"), "\(text)")
        let request = json["stages"]?[0]?["request"]
        #expect(request?["json"]?["ClientRequestToken"] == "${{ self.key }}", "\(text)")
        #expect(request?["once"] == ["key": true], "\(text)")
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

    /// The braces were once percent-encoded and sent, and nothing said so.
    @Test("a name in braces in a URL is an input, which is a guess")
    func placeholders() throws {
        let (json, text) = try document(
            "curl 'https://{region}.example.com/v1/jobs/{job_id}/files/{file}?page={page}&q=a' -F file=@file.bin")
        #expect(json["services"]?["example"]?["url"] == "https://${{ inputs.region }}.example.com", "\(text)")
        let stage = json["stages"]?[0]
        #expect(
            stage?["request"]?["POST"] == "/v1/jobs/${{ inputs.job_id }}/files/${{ inputs.file }}", "\(text)")
        #expect(stage?["request"]?["query"] == ["page": "${{ inputs.page }}", "q": "a"], "\(text)")
        let sent = stage?["request"]?["with"]?[0]?["multipart"]?["files"]?[0]
        #expect(sent?["file"] == "${{ inputs.file2 }}" && json["inputs"]?["file2"]?["type"] == "file", "\(text)")
        #expect(json["inputs"]?["job_id"]?["type"] == "string", "\(text)")
        #expect(text.contains("// guess: {job_id} in a URL stands for a value"), "\(text)")
        let job = try document(
            "curl -d a=1 https://h.example/jobs", "curl https://h.example/jobs/{id}/status",
            "curl -o out.zip https://h.example/jobs/{id}/result")
        let account = try document("curl -d a=1 https://h.example/{me}/jobs", "curl https://h.example/{me}/jobs/j1")
        #expect(
            account.json["stages"]?[0]?["poll"]?["GET"] == "/${{ inputs.me }}/jobs/${{ self.id }}", "\(account.text)")
        #expect(job.json["stages"]?[0]?["poll"]?["GET"] == "/jobs/${{ self.id }}/status", "\(job.text)")
        #expect(job.json["stages"]?[1]?["request"]?["GET"] == "/jobs/${{ stages.job.id }}/result", "\(job.text)")
        #expect(job.json["inputs"] == nil, "\(job.text)")
        let plain = try document(#"curl 'https://h.example/{a,b}?key={key}' -d '{"a":"{b}"}'"#)
        #expect(plain.json["stages"]?[0]?["request"]?["POST"] == "/%7Ba,b%7D", "\(plain.text)")
        #expect(plain.json["inputs"] == nil && plain.text.contains(#""{b}""#), "\(plain.text)")
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
              -H 'content-type: application/json' -H 'sec-ch-ua: "Chromium";v="130"' -H 'user-agent: Mozilla/5.0' \
              --data-raw $'{"text":"it\'s \u00fc"}' --compressed
            """#)
        let request = json["stages"]?[0]?["request"]
        #expect(request?["query"] == ["q": ["a b", "c"]] && request?["json"] == ["text": "it's ü"], "\(text)")
        #expect(request?["headers"] == ["accept": "*/*"] && !text.contains("session=abc"), "\(text)")
        #expect(text.contains("// left out, as browsers add them: accept-language, sec-ch-ua, user-agent"), "\(text)")
    }

    @Test("cookies that are given are a secret, and those of a file are left out")
    func cookies() throws {
        let (_, given) = try document("curl https://h.example/x -b 'session=abc'")
        #expect(given.contains("secrets.") && !given.contains("session=abc"), "\(given)")
        let (json, kept) = try document("curl https://h.example/x -b cookies.txt")
        #expect(json["stages"]?[0]?["request"]?["headers"] == nil && !kept.contains("secrets."), "\(kept)")
        #expect(kept.contains("// the cookies of cookies.txt were left out: cookies are not kept"), "\(kept)")
    }

    /// The file was lost, and each poll sent an empty PUT to the link.
    @Test("a file that goes to a link which the first command asks for is an upload of its own")
    func link() throws {
        let create = "curl https://api.example.com/uploads -d '{\"a\":1}' -H 'Content-Type: application/json'"
        let send = "curl -T movie.mp4 'https://store.example.com/bucket/x?signature=hidden'"
        let poll = "curl https://api.example.com/uploads/up_123"
        let (json, text) = try document(create, send, poll)
        let stages = json["stages"]?.array ?? []
        #expect(stages.map { $0["kind"]?.string } == ["request", "upload", "compute"], "\(text)")
        #expect(stages.first?["capture"] == ["url": "$.url", "id": "$.id"], "\(text)")
        let upload = try #require(stages.dropFirst().first)
        #expect(upload["file"] == "${{ inputs.movie }}" && upload["protocol"] == "put", "\(text)")
        #expect(upload["request"] == ["PUT": "${{ stages.link.url }}"] && !text.contains("hidden"), "\(text)")
        let job = try #require(stages.last)
        #expect(job["submit"] == nil && job["needs"] == ["upload"], "\(text)")
        #expect(job["poll"]?["GET"] == "/uploads/${{ stages.link.id }}", "\(text)")
        let order = "curl https://api.example.com/jobs -d '{\"b\":1}' -H 'Content-Type: application/json'"
        let ordered = try document(create, send, order, "curl https://api.example.com/jobs/job_123")
        let kinds = ordered.json["stages"]?.array?.map { $0["kind"]?.string }
        #expect(kinds == ["request", "upload", "compute"], "\(ordered.text)")
        #expect(ordered.json["stages"]?[2]?["submit"]?["json"] == ["b": 1], "\(ordered.text)")
        #expect(try document(create, send).json["stages"]?.array?.count == 2)
        let downloaded = try document(create, send, poll, "curl https://api.example.com/result -o movie.gif")
        #expect(downloaded.json["stages"]?[3]?["request"]?["GET"] == "${{ stages.job.url }}", "\(downloaded.text)")
        let named = try document(create, send, poll, "curl https://api.example.com/uploads/up_123/result -o movie.gif")
        let last = try #require(named.json["stages"]?[3])
        #expect(last["request"]?["GET"] == "/uploads/${{ stages.link.id }}/result", "\(named.text)")
        #expect(last["needs"] == ["job"], "\(named.text)")
        let complete = "curl -X POST https://api.example.com/uploads/up_123/complete"
        let ended = try document(create, send, complete, poll)
        #expect(ended.json["stages"]?[2]?["submit"]?["POST"] == "/uploads/up_123/complete", "\(ended.text)")
        let completed = try document(create, send, complete)
        #expect(completed.json["stages"]?[2]?["kind"] == "request", "\(completed.text)")
        let twice = try document(
            create, send, "curl https://api.example.com/uploads/up_123 -o s.json",
            "curl https://api.example.com/uploads/up_123/result -o movie.gif")
        #expect(twice.json["stages"]?.array?.count == 4, "\(twice.text)")
        let fetched = try document(create, send, "curl https://api.example.com/uploads/up_123/gif -o movie.gif")
        #expect(fetched.json["stages"]?[2]?["kind"] == "download", "\(fetched.text)")
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

    /// A type that looked like one of JSON or of a form was once left out before it was known what the document sends.
    @Test(
        "the type is the one that curl sends, said where the body's kind would give another",
        arguments: [
            (
                "-H 'content-type: application/x-ndjson' --data-binary $'{\"a\":1}\\n{}\\n'", "text",
                "application/x-ndjson"
            ),
            ("-H 'content-type: application/json' -d @base.json", "file", "application/json"),
            ("--json @base.json", "file", "application/json"),
            ("--data-binary @base.bin", "file", "application/x-www-form-urlencoded"),
            ("-H 'content-type: application/vnd.api+json' -d '{\"a\":1}'", "json", "application/vnd.api+json"),
            (
                "-H 'content-type: application/json; charset=utf-8' -d '[1]'", "json",
                "application/json; charset=utf-8"
            ),
            ("-d '{\"a\":1}'", "json", "application/x-www-form-urlencoded"),
            ("-H 'content-type: text/plain' -d '{\"a\":1}'", "text", "text/plain"),
            ("-d 'a=1&flag'", "text", "application/x-www-form-urlencoded"),
            (
                "-H 'content-type: multipart/form-data; boundary=----B' --data-raw $'------B\\r\\n'", "text",
                "multipart/form-data; boundary=----B"
            ),
            ("--json '{\"a\":1}'", "json", nil), ("-d a=1", "form", nil), ("-F a=1", "with", nil),
        ])
    func types(options: String, member: String, type: String?) throws {
        let (json, text) = try document("curl https://h.example/x \(options)")
        let request = json["stages"]?[0]?["request"]
        #expect(request?[member] != nil, "\(text)")
        #expect(request?["headers"]?["Content-Type"]?.string == type, "\(text)")
    }

    @Test("no part of a command is lost without a word")
    func parts() throws {
        let user = try document("curl https://me:s3cr%40t@api.example.com/x")
        #expect(
            user.json["services"]?["example"]?["with"]?[0]?["basic"] == [
                "user": "me", "password": "${{ secrets.EXAMPLE_PASSWORD }}",
            ], "\(user.text)")
        let data = try document("curl https://h.example/x -d @note.txt -d b=2 --data-urlencode 'c=d e' -d flag")
        #expect(data.json["stages"]?[0]?["request"]?["text"] == "b=2&c=d%20e&flag", "\(data.text)")
        #expect(data.text.contains("// left out: the file note.txt, which stands next to other data"), "\(data.text)")
        let form = try document(
            #"""
            curl https://h.example/up -F 'meta={"a":1};type=application/json' -F 'x=<note.txt' -F 'q="a;b\"c"' \
              -F 'me=@"a b.mov";filename=b.mov;type=video/mp4'
            """#)
        let multipart = form.json["stages"]?[0]?["request"]?["with"]?[0]?["multipart"]
        #expect(
            multipart?["fields"] == ["meta": #"{"a":1}"#, "x": "${{ text(inputs.x) }}", "q": #"a;b"c"#],
            "\(form.text)")
        #expect(
            multipart?["files"]?[0] == [
                "name": "me", "file": "${{ inputs.me }}", "filename": "b.mov", "contentType": "video/mp4",
            ], "\(form.text)")
        #expect(form.json["inputs"]?["me"]?["description"] == "in curl: a b.mov", "\(form.text)")
        #expect(form.text.contains("// left out: ;type=application/json of the part 'meta'"), "\(form.text)")
        let proxy = try document("curl https://h.example/x --proxy-user u:hidden -x http://u:hidden@p.example")
        #expect(!proxy.text.contains("hidden") && proxy.text.contains("--proxy-user was left out"), "\(proxy.text)")
    }

    /// Of all credentials of an origin only the first was once kept.
    @Test("credentials that not all requests have stand at those that do")
    func ownCredentials() throws {
        let (json, text) = try document(
            "curl https://api.example.com/jobs -H 'Authorization: Bearer x' -d '{\"a\":1}'",
            "curl https://api.example.com/jobs/abc123 -H 'Authorization: Bearer x' -H 'X-Api-Key: k'",
            "curl https://api.example.com/jobs/abc123/result -o out.bin -H 'Authorization: Bearer x' -H 'X-Download-Token: z'"
        )
        #expect(
            json["services"]?["example"]?["with"] == [["bearer": "${{ secrets.EXAMPLE_TOKEN }}"]], "\(text)")
        let job = json["stages"]?[0]
        #expect(job?["submit"]?["with"] == nil, "\(text)")
        #expect(
            job?["poll"]?["with"] == [["headers": ["X-Api-Key": "${{ secrets.EXAMPLE_X_API_KEY }}"]]], "\(text)")
        let download = json["stages"]?[1]?["request"]?["with"]
        #expect(
            download == [["headers": ["X-Download-Token": "${{ secrets.EXAMPLE_X_DOWNLOAD_TOKEN }}"]]], "\(text)")
        let single = try document(
            "curl https://api.example.com/jobs -F a=@a.png -F b=1", "curl https://api.example.com/jobs/j1 -u me:pw")
        #expect(single.json["services"]?["example"]?["with"] == nil, "\(single.text)")
        #expect(single.json["stages"]?[0]?["poll"]?["with"]?[0]?["basic"]?["user"] == "me", "\(single.text)")
    }

    @Test("secrets are found at any depth, in texts too, by the words of their names")
    func nestedSecrets() throws {
        let (json, text) = try document(
            """
            curl https://api.example.com/x -H 'content-type: application/json' -d '{"token":"hidden1",
            "auth":{"token":"hidden2","accessKey":"hidden3"},"author":"Jane","max_tokens":5,
            "hooks":[{"secret":"hidden4"},{"secret":"hidden5"}]}'
            """)
        #expect(
            json["stages"]?[0]?["request"]?["json"] == [
                "token": "${{ secrets.EXAMPLE_TOKEN }}",
                "auth": [
                    "token": "${{ secrets.EXAMPLE_AUTH_TOKEN }}", "accessKey": "${{ secrets.EXAMPLE_AUTH_ACCESSKEY }}",
                ], "author": "Jane", "max_tokens": 5,
                "hooks": [
                    ["secret": "${{ secrets.EXAMPLE_HOOKS_SECRET }}"],
                    ["secret": "${{ secrets.EXAMPLE_HOOKS_2_SECRET }}"],
                ],
            ], "\(text)")
        let pairs = try document("curl 'https://api.example.com/x?author=Jane' -d 'api%20key=hidden&flag'")
        #expect(
            pairs.json["stages"]?[0]?["request"]?["text"] == "api%20key=${{ secrets.EXAMPLE_API_KEY }}&flag",
            "\(pairs.text)")
        #expect(pairs.json["stages"]?[0]?["request"]?["query"] == ["author": "Jane"], "\(pairs.text)")
        let lines = try document(
            "curl https://h.example/x -H 'content-type: application/x-ndjson' -d $'{\"a?\":1}\\n{\"pwd\":\"hidden\"}'")
        #expect(lines.text.contains("a?") && !lines.text.contains("a??"), "\(lines.text)")
        #expect(!lines.text.contains("hidden"), "\(lines.text)")
        let link = try document(
            "curl https://api.example.com/jobs -d a=1", "curl -o x https://u:hidden@cdn.example.com/x?sig=hidden")
        #expect(!link.text.contains("hidden"), "\(link.text)")
    }

    @Test("a question mark at the end of a JSON name is sent as it is")
    func questionMarks() throws {
        let (json, text) = try document(#"curl https://h.example/x --json '{"a?":null,"b":[{"c??":2}]}'"#)
        #expect(json["stages"]?[0]?["request"]?["json"] == ["a??": nil, "b": [["c???": 2]]], "\(text)")
    }

    @Test("unknown options are named in a comment and left out")
    func unknown() throws {
        let (json, text) = try document("curl --frobnicate 7 -m 10 -k --retry=3 https://h.example/x | jq .")
        #expect(json["stages"]?[0]?["request"]?["GET"] == "/x", "\(text)")
        for option in ["--frobnicate", "-m 10", "-k", "| jq ."] {
            #expect(text.contains("\(option)"), "\(option): \(text)")
        }
    }

    /// Of two lines of one text there was once one stage, with the method of the one and the body of the other.
    @Test("the commands of one text are as many as those of several")
    func lines() throws {
        let commands = [
            "curl https://api.example.com/v1/jobs -H 'Content-Type: application/json' -d '{\"a\":1}'",
            "curl https://api.example.com/v1/jobs/job_8a7b",
        ]
        let (json, text) = try document(commands.joined(separator: "\n"))
        #expect(try json == document(commands[0], commands[1]).json, "\(text)")
        #expect(json["stages"]?[0]?["submit"]?["json"] == ["a": 1], "\(text)")
        let removal = "curl -X DELETE https://api.example.com/v1/jobs/OLD"
        let guessed = try CurlDocument(["\(commands[0])\n\(removal)"], name: "made").text()
        #expect(guessed.contains("// guess: DELETE does not ask for a state"), "\(guessed)")
        let more = Array(repeating: commands[1], count: 5).joined(separator: "\n")
        #expect(throws: CurlMistake.self) { try CurlDocument([more], name: "made").text() }
    }

    @Test(
        "what stands before curl is left out, and no value of a variable is told",
        arguments: [
            ("$ curl https://h.example/x", nil), ("% /usr/bin/curl https://h.example/x", nil),
            ("> curl https://h.example/x", nil), ("sudo -E curl https://h.example/x", "curl: sudo, -E"),
            ("$ TOKEN=hidden curl https://h.example/x", "left out before curl: TOKEN=…"),
            ("env A=hidden B='hid den' curl https://h.example/x", "left out before curl: env, A=…, B=…"),
            ("export KEY=hidden\ncurl https://h.example/x", "left out, for it is no curl command: export …"),
            ("KEY=hidden\ncurl https://h.example/x", "left out, for it is no curl command: KEY=…"),
            ("curl https://h.example/x\n  -H 'Authorization: hidden'", "left out, for it is no curl command: -H …"),
        ])
    func before(command: String, remark: String?) throws {
        let (json, text) = try document(command)
        #expect(json["stages"]?[0]?["request"]?["GET"] == "/x" && !text.contains("hid"), "\(text)")
        #expect(remark.map { text.contains($0) } ?? !text.contains("left out"), "\(text)")
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

    /// The order was taken for the poll: eleven jobs in fourteen seconds.
    @Test(
        "an upload before the submit is a stage of its own, which the submit waits for",
        arguments: [
            "curl -X POST --data-binary @a.wav https://h.example/upload", "curl -F f=@a.wav https://h.example/f",
        ])
    func uploadFirst(upload: String) throws {
        let order = #"curl https://h.example/jobs --json "{\"audio\": \"$UPLOAD_URL\", \"model\": \"small\"}""#
        let poll = "curl https://h.example/jobs/7f1e9b22"
        let made = try document(upload, order, poll)
        let stages = made.json["stages"]
        #expect(stages?[0]?["capture"] == ["url": "$.url"], "\(made.text)")
        #expect(stages?[1]?["needs"] == ["upload"] && stages?[1]?["kind"] == "compute", "\(made.text)")
        #expect(stages?[1]?["submit"]?["json"]?["audio"] == "${{ stages.upload.url }}", "\(made.text)")
        #expect(stages?[1]?["poll"]?["GET"] == "/jobs/${{ self.id }}", "\(made.text)")
        let whole = try document(upload, order, poll, "curl https://h.example/jobs/7f1e9b22/text -o talk.txt")
        #expect(whole.json["stages"]?[2]?["request"]?["GET"] == "/jobs/${{ stages.job.id }}/text", "\(whole.text)")
        let two = try document(upload, order)
        #expect(two.json["stages"]?[1]?["needs"] == ["upload"] && two.json["stages"]?[1]?["kind"] == "request")
        let put = try document("curl -T a.wav https://s.example/a?sig=1", order, poll)
        #expect(put.json["stages"]?[0]?["kind"] == "upload" && put.json["stages"]?[1]?["needs"] == ["upload"])
        let post = try document("curl https://h.example/jobs -d a=1", "curl https://h.example/jobs/7f1e9b22 -d b=1")
        #expect(post.text.contains("guess: POST may order at each poll"), "\(post.text)")
    }

    @Test(
        "a variable is a credential as a whole, with a scheme before it or none",
        arguments: [
            ("$AAI_KEY", "${{ secrets.AAI_KEY }}"), ("$AAI", "${{ secrets.AAI }}"),
            ("Token $AAI", "Token ${{ secrets.AAI }}"), ("$KIND $AAI", "${{ env.KIND }} ${{ secrets.AAI }}"),
            ("$A$B", "${{ secrets.A }}"),
        ])
    func bareCredential(value: String, written: String) throws {
        let made = try document("curl https://h.example/x -H \"Authorization: \(value)\"")
        let with = made.json["services"]?["example"]?["with"] ?? made.json["services"]?["h"]?["with"]
        #expect(with?[0]?["headers"]?["Authorization"]?.string == written, "\(made.text)")
    }

    @Test("five commands are too many")
    func tooMany() {
        #expect(throws: CurlMistake.self) {
            try CurlDocument(Array(repeating: "curl https://h.example", count: 5), name: "made").text()
        }
    }
}

extension JSON {
    /// The element of an array; nil for anything else.
    fileprivate subscript(index: Int) -> JSON? { array.flatMap { $0.indices.contains(index) ? $0[index] : nil } }
}
