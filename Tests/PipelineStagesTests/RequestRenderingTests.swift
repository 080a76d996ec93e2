import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP
import PipelineTestKit
import Testing

@Suite("A request with its values put in")
struct RequestRenderingTests {
    /// The request that a submit sends, or the failure before it is sent.
    private func sent(
        _ request: String, inputs: JSONObject = [:], secrets: [String: String] = [:], captures: [String: JSON] = [:],
        stages: String = "", url: String = "http://api.test/v1", with decorators: String = "[]", header: String = "",
        folders: JobFolders = JobFolders(document: "/tmp", output: "/tmp"), status: Int? = nil
    ) async throws -> (request: RequestDescription?, failure: StepFailure?, options: ExchangeOptions?) {
        let service = ScriptedService()
        if let status { service.on("POST /x", status, "{}") }
        let bench = try StageBench(
            stages + #"{ "id": "a", "kind": "compute", "service": "api", "submit": { \#(request) } }"#,
            network: service.network, inputs: inputs, secrets: secrets, captures: captures, header: header, url: url,
            with: decorators, folders: folders)
        let outcome = await bench.resume()
        return (service.requests.first, outcome.tryFailure?.failure, service.sentOptions.first)
    }

    // MARK: URL

    @Test("a path is appended to the service's URL, whose own path stays")
    func path() async throws {
        #expect(try await sent(#""POST": "/jobs""#).request?.url == "http://api.test/v1/jobs")
        #expect(try await sent(#""POST": "/jobs""#, url: "http://api.test/").request?.url == "http://api.test/jobs")
        #expect(
            try await sent(#""POST": "/jobs?b=2""#, url: "http://api.test/v1?a=1").request?.url
                == "http://api.test/v1/jobs?b=2&a=1")
        #expect(try await sent(#""POST": "https://other.test/x""#).request?.url == "https://other.test/x")
    }

    @Test(
        "a value that brings a space, a control character, ? or # into a path is an error with a hint",
        arguments: [
            ("a b", "a space"), ("a?b", "a '?'"), ("a#b", "a '#'"), ("a\nb", "a control character"),
        ])
    func badValues(value: String, what: String) async throws {
        let result = try await sent(#""POST": "/jobs/${{ inputs.x }}""#, inputs: ["x": .string(value)])
        #expect(result.request == nil)
        #expect(result.failure?.title == "the value of inputs.x brings \(what) into the URL")
        #expect(result.failure?.hint == "encode it: ${{ urlencode(inputs.x) }}")
        let encoded = try await sent(#""POST": "/jobs/${{ urlencode(inputs.x) }}""#, inputs: ["x": .string(value)])
        #expect(encoded.request != nil)
    }

    @Test(
        "a value that brings a segment of dots into a path is an error, plain or encoded, in one piece or several",
        arguments: [
            ("/jobs/${{ inputs.x }}", ".."), ("/jobs/${{ inputs.x }}", "."), ("/jobs/${{ inputs.x }}", "../../admin"),
            ("/jobs/${{ inputs.x }}/log", "%2e%2E"), ("/jobs/.${{ inputs.x }}/log", "."),
            ("/jobs/${{ inputs.x }}${{ inputs.x }}", "."), ("/jobs/.${{ urlencode(inputs.x) }}", "."),
            ("${{ inputs.x }}", "/../admin"), ("https://api.test/${{ inputs.x }}?a=b", "a/../b"),
        ])
    func dotSegments(url: String, value: String) async throws {
        let result = try await sent(#""POST": "\#(url)""#, inputs: ["x": .string(value)])
        #expect(result.request == nil)
        #expect(result.failure?.title.contains("into the path, which leads out of it") == true)
        #expect(result.failure?.hint != nil)
    }

    @Test("what urlencode makes of dots is a name, and the author may write any path himself")
    func encodedDots() async throws {
        let encoded = try await sent(#""POST": "/jobs/${{ urlencode(inputs.x) }}/log""#, inputs: ["x": ".."])
        #expect(encoded.request?.url == "http://api.test/v1/jobs/%2E%2E/log")
        let own = try await sent(#""POST": "/jobs/../${{ inputs.x }}""#, inputs: ["x": "a..b"])
        #expect(own.request?.url == "http://api.test/v1/jobs/../a..b")
        let query = try await sent(#""POST": "/jobs?x=${{ inputs.x }}""#, inputs: ["x": "/../"])
        #expect(query.request?.url == "http://api.test/v1/jobs?x=/../")
        let whole = try await sent(#""POST": "${{ inputs.x }}""#, inputs: ["x": "https://cdn.test/a/../b"])
        #expect(whole.request?.url == "https://cdn.test/a/../b")
    }

    @Test("an object is compact JSON in a query, a form and a header, there with all but ASCII escaped")
    func objects() async throws {
        let table = #"{ "filter": { "a": [1, "ü😀"], "b?": "${{ inputs.none }}" }, "list": [ { "n": 1 }, [2] ] }"#
        let query = try await sent(#""POST": "/jobs", "query": \#(table)"#, inputs: ["none": .null])
        #expect(
            query.request?.url
                == "http://api.test/v1/jobs?filter=%7B%22a%22%3A%5B1%2C%22%C3%BC%F0%9F%98%80%22%5D%7D"
                + "&list=%7B%22n%22%3A1%7D&list=%5B2%5D")
        let form = try await sent(#""POST": "/jobs", "form": { "o": "${{ inputs.o }}" }"#, inputs: ["o": ["k": "v"]])
        #expect(form.request?.text == "o=%7B%22k%22%3A%22v%22%7D")
        let header = try await sent(
            #""POST": "/jobs", "headers": { "Dropbox-API-Arg": { "path": "/ü😀" } }"#)
        #expect(header.request?.header("Dropbox-API-Arg") == #"{"path":"/\u00fc\ud83d\ude00"}"#)
    }

    @Test("a ? that the author wrote is one, and values may stand behind it")
    func literalQuery() async throws {
        let result = try await sent(#""POST": "/jobs?tag=${{ inputs.x }}""#, inputs: ["x": "a?b"])
        #expect(result.request?.url == "http://api.test/v1/jobs?tag=a?b")
    }

    @Test("a value that is a whole URL keeps its query")
    func capturedURL() async throws {
        let result = try await sent(#""POST": "${{ inputs.x }}""#, inputs: ["x": "https://cdn.test/f?sig=1&x=%20"])
        #expect(result.request?.url == "https://cdn.test/f?sig=1&x=%20")
        let relative = try await sent(#""POST": "${{ inputs.x }}""#, inputs: ["x": "jobs/1"])
        #expect(relative.failure?.title.contains("neither a path that begins with / nor an absolute") == true)
    }

    @Test("a service's URL that is none once it is known is named")
    func badServiceURL() async throws {
        let result = try await sent(#""POST": "/jobs""#, url: "${{ 'localhost:' + string(8787) }}")
        #expect(
            result.failure?.title
                == "the url of service 'api' is \"localhost:8787\", which is no absolute http or https URL")
    }

    // MARK: Query, headers, body

    @Test("query and form encode, null leaves out, an array repeats")
    func tables() async throws {
        let table = #"{ "a": "x y", "n": null, "list": [1, true, "z&"], "e": "${{ inputs.x }}" }"#
        let query = try await sent(#""POST": "/jobs", "query": \#(table)"#, inputs: ["x": .null])
        #expect(query.request?.url == "http://api.test/v1/jobs?a=x%20y&list=1&list=true&list=z%26")
        let form = try await sent(#""POST": "/jobs", "form": \#(table)"#, inputs: ["x": ["p", "q"]])
        #expect(form.request?.text == "a=x%20y&list=1&list=true&list=z%26&e=p&e=q")
        #expect(form.request?.header("Content-Type") == "application/x-www-form-urlencoded")
        let object = try await sent(#""POST": "/jobs", "query": { "o": "${{ inputs.x }}" }"#, inputs: ["x": ["a": 1]])
        #expect(object.request?.url == "http://api.test/v1/jobs?o=%7B%22a%22%3A1%7D")
    }

    @Test("a header keeps to one line, and Content-Type is the author's when given")
    func headers() async throws {
        let result = try await sent(
            #""POST": "/jobs", "headers": { "X-A": ["1", "2"], "content-type": "text/csv" }, "text": "a;b""#)
        #expect(result.request?.header("X-A") == "1, 2")
        #expect(result.request?.header("Content-Type") == "text/csv")
        for bad in ["a\nb", "a\rb", "a\u{0}b"] {
            let failed = try await sent(
                #""POST": "/jobs", "headers": { "X-A": "${{ inputs.x }}" }"#, inputs: ["x": .string(bad)])
            #expect(failed.request == nil)
            #expect(failed.failure?.title.contains("line break") == true)
        }
    }

    @Test("a json body keeps digits and leaves out optional members that are null")
    func json() async throws {
        let result = try await sent(
            #""POST": "/jobs", "json": { "n": 1.50, "big": "${{ inputs.x }}", "gone?": null, "really??": 1 }"#,
            inputs: ["x": .number(JSONNumber(literal: "12345678901234567890"))])
        #expect(result.request?.text == #"{"n":1.50,"big":12345678901234567890,"really?":1}"#)
    }

    @Test("a file body is checked before it is sent")
    func file() async throws {
        let folder = TemporaryFolder()
        try folder.write("body.bin", "12345")
        let result = try await sent(
            #""POST": "/jobs", "file": "body.bin""#,
            folders: JobFolders(document: folder.path, output: folder.path))
        #expect(result.request?.text == "<\(folder.path)/body.bin 0+5>")
        #expect(result.request?.header("Content-Type") == "application/octet-stream")
        let missing = try await sent(#""POST": "/jobs", "file": "/nowhere/at/all""#)
        #expect(missing.failure?.title == "the file /nowhere/at/all can't be read: No such file or directory")
        let directory = try await sent(#""POST": "/jobs", "file": "/""#)
        #expect(directory.failure?.title == "/ is not a regular file")
    }

    @Test("a secret that is missing makes the step wait for it")
    func missingSecret() async throws {
        let service = ScriptedService()
        let bench = try StageBench(
            #"{ "id": "a", "kind": "compute", "service": "api", "submit": { "POST": "/jobs", "headers": { "X": "${{ secrets.S }}" } } }"#,
            network: service.network)
        #expect(await bench.resume().tryFailure?.kind == .secret)
    }

    @Test("timeout, redirects, TLS and proxy become options of the exchange")
    func options() async throws {
        let header = """
            "description": "x",
            """
        let service = ScriptedService()
        let text = """
            { "pipeline": 1, "name": "test", \(header)
              "services": { "api": { "url": "https://api.test", "timeout": "20s", "proxy": "http://p:1",
                "tls": { "ca": "ca.pem", "minimumVersion": "1.3", "pinnedPublicKeys": ["sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="] },
                "limits": { "send": "500KB/s" } } },
              "stages": [ { "id": "a", "kind": "compute", "service": "api",
                "submit": { "POST": "/jobs", "redirects": 2, "credentials": "any-origin" } } ] }
            """
        let catalogue = Catalogue(kinds: StageBench.kinds(service.network)) { _, _ in }
        let plan = try Planner(catalogue: catalogue).plan(SourceText(name: "t.json", text: text))
        let host = MemoryStageHost(
            stage: "a", retry: RetryPolicy(), folders: JobFolders(document: "/docs", output: "/out"))
        _ = await plan.stages[0].stage.resume(nil, host)
        let options = try #require(service.sentOptions.first)
        #expect(options.totalTimeout == .seconds(20))
        #expect(options.redirects == 2)
        #expect(options.redirectKeepsCredentials)
        #expect(options.proxy == "http://p:1")
        #expect(options.tls.ca == "/docs/ca.pem")
        #expect(options.tls.minimumVersion == .tls13)
        #expect(options.tls.pinnedPublicKeys == ["sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="])
        #expect(options.limits?.sendRate == 500_000)
        #expect(options.limits?.service == "api https://api.test")
    }

    // MARK: Credentials

    private let bearer =
        #"[ { "bearer": "${{ secrets.T }}" }, { "headers": { "X-Plain": "p" } }, { "headers": { "X-Sealed": "${{ secrets.T }}" } } ]"#
    private let before =
        #"{ "id": "first", "kind": "compute", "service": "api", "submit": { "POST": "/f", "capture": { "url": "$.url" } } },"#

    @Test("the service's credentials go to its own origin, also under an absolute URL")
    func ownOrigin() async throws {
        for target in ["/jobs", "http://api.test:80/other", "HTTP://API.test/x"] {
            let result = try await sent(
                #""POST": "${{ stages.first.url }}""#, secrets: ["T": "sesame"],
                captures: ["first": ["url": .string(target)]], stages: before, with: bearer)
            #expect(result.request?.header("Authorization") == "Bearer sesame", "for \(target)")
            #expect(result.request?.header("X-Sealed") == "sesame")
        }
    }

    @Test("a captured URL at another origin gets no credentials, and no other secret")
    func capturedOrigin() async throws {
        let request =
            #""POST": "${{ stages.first.url }}", "query": { "k": "${{ secrets.T }}" }, "with": [ { "basic": { "user": "u", "password": "${{ secrets.T }}" } } ]"#
        for target in ["http://evil.test/x", "https://api.test/x", "http://api.test:8080/x", "http://api.test.evil/x"] {
            let result = try await sent(
                request, secrets: ["T": "sesame"], captures: ["first": ["url": .string(target)]], stages: before,
                with: bearer)
            #expect(result.request?.url == target, "for \(target)")
            #expect(result.request?.header("Authorization") == nil)
            #expect(result.request?.header("X-Sealed") == nil)
            #expect(result.request?.header("X-Plain") == "p")
        }
    }

    @Test("an item that an answer gave gets no credentials as a URL, an author's own does", arguments: [true, false])
    func itemOrigin(isOwn: Bool) async throws {
        let service = ScriptedService()
        let bench = try StageBench(
            before + """
                { "id": "a", "kind": "request", "forEach": "${{ stages.first.url }}",
                  "with": [ { "bearer": "${{ secrets.T }}" } ],
                  "request": { "GET": "${{ item.href }}", "headers": { "X-Own": "${{ secrets.T }}", "X-Open": "o" } } }
                """, network: service.network, secrets: ["T": "sesame"])
        bench.host.read { state in
            state.scope.item = ["href": "http://evil.test/x"]
            state.scope.itemIsOwn = isOwn
        }
        await bench.resume()
        let request = try #require(service.requests.first)
        #expect(request.url == "http://evil.test/x")
        #expect(request.header("Authorization") == (isOwn ? "Bearer sesame" : nil))
        #expect(request.header("X-Own") == (isOwn ? "sesame" : nil))
        #expect(request.header("X-Open") == "o")
    }

    @Test("the service's client certificate is shown to its own origin alone, unless credentials may go anywhere")
    func certificate() async throws {
        let service = #"[], "tls": { "ca": "ca.pem", "certificate": "me.pem", "key": "me.key", "keyPassword": "p" }"#
        for (target, more, isShown) in [
            ("http://api.test:80/x", "", true), ("http://api.test:8080/x", "", false),
            ("https://cdn.test/x", "", false),
            ("https://cdn.test/x", #", "credentials": "any-origin""#, true),
        ] {
            let result = try await sent(
                "\"POST\": \"${{ stages.first.url }}\"\(more)", captures: ["first": ["url": .string(target)]],
                stages: before, with: service)
            let tls = try #require(result.options?.tls)
            #expect((tls.certificate == "/tmp/me.pem") == isShown, "\(target)")
            #expect((tls.key != nil) == isShown && (tls.keyPassword != nil) == isShown)
            #expect(tls.ca == "/tmp/ca.pem")
        }
    }

    @Test("a host that the author wrote gets the request's own credentials and not the service's")
    func literalOrigin() async throws {
        let own = try await sent(
            #""POST": "https://other.test/x", "with": [ { "bearer": "mine" } ]"#, secrets: ["T": "sesame"], with: bearer
        )
        #expect(own.request?.header("Authorization") == "Bearer mine")
        let none = try await sent(#""POST": "https://other.test/x""#, secrets: ["T": "sesame"], with: bearer)
        #expect(none.request?.header("Authorization") == nil)
    }

    /// It said that the link may have expired.
    @Test("a refusal at another origin says that no credentials went there, unless the author wants none")
    func withheld() async throws {
        let captures = ["first": ["url": JSON.string("https://files.test/x")] as JSON]
        for (more, status, hint) in [
            ("", 401, "no credentials went there, as they belong to another origin"),
            // One that was signed has expired.
            ("", 403, "the link may have expired: \"renew\": STAGE gets a fresh one"),
            (#", "credentials": "none""#, 401, "the link may have expired"),
            (#", "credentials": "any-origin""#, 401, "the link may have expired"),
        ] {
            let refused = try await sent(
                "\"POST\": \"${{ stages.first.url }}\"\(more)", secrets: ["T": "sesame"], captures: captures,
                stages: before, with: bearer, status: status)
            #expect(refused.failure?.hint?.hasPrefix(hint) == true, "\(refused.failure?.hint ?? "")")
        }
    }

    @Test("credentials none sends none, any-origin sends them everywhere")
    func credentialsKey() async throws {
        let none = try await sent(#""POST": "/jobs", "credentials": "none""#, secrets: ["T": "sesame"], with: bearer)
        #expect(none.request?.header("Authorization") == nil)
        for (credentials, value) in [("none", nil), ("service", "Basic dTpw")] {
            let user = try await sent(
                "\"POST\": \"/jobs\", \"credentials\": \"\(credentials)\"", url: "http://u:p@api.test/v1?a=1")
            let request = try RequestBuilder().finished(try #require(user.request))
            #expect(request.url == "http://api.test/v1/jobs?a=1")
            #expect(request.header("Authorization") == value)
        }
        let any = try await sent(
            #""POST": "https://other.test/x", "credentials": "any-origin""#, secrets: ["T": "sesame"], with: bearer)
        #expect(any.request?.header("Authorization") == "Bearer sesame")
    }

    @Test("fields made from secrets are marked, so that no redirect takes them along")
    func credentialFields() async throws {
        let result = try await sent(
            #""POST": "/jobs", "headers": { "X-Own": "${{ secrets.T }}", "X-Open": "o" }"#, secrets: ["T": "sesame"],
            with: bearer)
        let names = Set(result.request?.credentialFields.map(\.canonicalName) ?? [])
        #expect(names.isSuperset(of: ["x-own", "x-sealed", "authorization"]))
        #expect(!names.contains("x-open"))
    }
}
