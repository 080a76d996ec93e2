import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP
import PipelineStages
import PipelineTestKit
import Testing

@Suite("Decorators that are programs", .serialized, .timeLimit(.minutes(3)))
struct ProgramDecoratorTests {
    /// Sends one request that a Python program decorates; `body` works on `first`, the message, and `more` are the
    /// service's decorators around it.
    private func send(
        _ body: String, configuration: String = "{}", describing: String = "{}",
        request: String = #""json": {"a": 1}"#, more: String = "", limits: PluginLimits = PluginBench.quick
    ) async throws -> (sent: RequestDescription?, result: Result<StageOutcome<[UInt8]>, StageFailure>) {
        let bench = try PluginBench("", describing: describing, limits: limits)
        try bench.program("pipeline-decorator-demo", PluginBench.prelude(describing) + body)
        let service = ScriptedService()
        let plan = try await Self.plan(bench, service, configuration, request, more)
        let host = MemoryStageHost(
            stage: "a", retry: RetryPolicy(), secrets: ["T": "sesame-sesame"],
            folders: JobFolders(document: bench.folder.path, output: bench.folder.path))
        let stage = try #require(plan.stages.first).stage
        let result = await stage.resume(nil, host)
        return (service.requests.first, result)
    }

    private static func plan(
        _ bench: PluginBench, _ service: ScriptedService, _ configuration: String, _ request: String,
        _ more: String = ""
    ) async throws -> Plan {
        let source = SourceText(
            name: "test.json",
            text: """
                { "pipeline": 1, "name": "test",
                  "services": { "api": { "url": "http://api.test/v1", "with": [ { "demo": \(configuration) }\(more) ] } },
                  "stages": [ { "id": "a", "kind": "request", "service": "api",
                    "request": { "POST": "/jobs", "query": { "b": "c d" }, \(request) } } ] }
                """)
        var decorators = DecoratorCatalogue.standard
        for kind in await bench.plugins.plugins(namedIn: source).decorators { decorators.register(kind) }
        let all = decorators
        let catalogue = Catalogue(kinds: StandardStages.kinds(network: service.network, decorators: all)) {
            all.check($0, findings: $1)
        }
        return try Planner(catalogue: catalogue).plan(source)
    }

    @Test("It sees method, URL and headers, of the body size, type and digest, and nothing of its bytes")
    func sees() async throws {
        let (sent, _) = try await send(
            """
            seen = dict(first["request"], configuration=first["configuration"], attempt=first["attempt"])
            send(type="decorated", request={"headers": [{"name": "X-Seen", "value": json.dumps(seen)}]})
            """, configuration: #"{ "level": "${{ 1 + 1 }}" }"#)
        let seen = try JSON.parse(try #require(sent?.header("X-Seen")))
        #expect(seen["method"] == "POST")
        #expect(seen["url"] == "http://api.test/v1/jobs?b=c%20d")
        #expect(seen["configuration"] == ["level": 2])
        #expect(seen["attempt"] == 1)
        #expect(seen["body"]?["size"] == 7)
        #expect(seen["body"]?["type"]?.string?.hasPrefix("application/json") == true)
        #expect(seen["body"]?["sha256"] == "015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862")
    }

    @Test("It may change method, URL and headers; what it leaves out stays")
    func changes() async throws {
        let changed = try await send(
            """
            headers = [{"name": "X-A", "value": "1"}, {"name": "X-A", "value": "2"}]
            send(type="decorated", request={"method": "PUT", "url": "http://api.test/v2?x=y", "headers": headers})
            """)
        #expect(changed.sent?.method == .put)
        #expect(changed.sent?.url == "http://api.test/v2?x=y")
        #expect(changed.sent?.header("X-A") == "1, 2")
        #expect(changed.sent?.header("Content-Type") == nil)
        let same = try await send(#"send(type="decorated", request={})"#)
        #expect(same.sent?.method == .post)
        #expect(same.sent?.url == "http://api.test/v1/jobs?b=c%20d")
        #expect(same.sent?.header("Content-Type")?.hasPrefix("application/json") == true)
    }

    @Test("What it makes of a secret is a credential, which no other origin gets")
    func credential() async throws {
        let (sent, _) = try await send(
            """
            token = first["configuration"]["token"]
            send(type="decorated", request={"headers": first["request"]["headers"] + [{"name": "X-Mine", "value": token}]})
            """, configuration: #"{ "token": "${{ secrets.T }}" }"#)
        #expect(sent?.header("X-Mine") == "sesame-sesame")
        #expect(sent?.credentialFields.map(\.canonicalName) == ["x-mine"])
    }

    /// Decorators were once asked last where the request goes: a program that mapped hosts took the service's bearer along.
    @Test("A URL of another origin leaves all credentials behind, but with any-origin", arguments: [false, true])
    func otherOrigin(isAllowed: Bool) async throws {
        let (sent, _) = try await send(
            """
            url = first["request"]["url"].replace("api.test", "other.test")
            own = {"name": "Authorization", "value": "own"}
            headers = first["request"]["headers"] + [own, {"name": "X-Open", "value": "o"}]
            send(type="decorated", request={"url": url, "headers": headers})
            """,
            request: #"""
                "json": {}, "headers": { "X-Sealed": "${{ secrets.T }}", "X-Api-Key": "sesame-literal" },
                "with": [ { "query": { "inner": "${{ secrets.T }}" } } ]
                """# + (isAllowed ? #", "credentials": "any-origin""# : ""),
            more: #"""
                , { "headers": { "X-Outer": "${{ secrets.T }}", "Api-Key": "sesame-literal" } },
                { "query": { "key": "${{ secrets.T }}", "open": "o" } },
                { "apiKey": { "header": "X-Key", "value": "${{ secrets.T }}" } },
                { "sigv4": { "region": "r", "service": "s", "accessKey": "${{ secrets.T }}", "secretKey": "x" } }
                """#)
        let request = try #require(sent)
        #expect(request.url.hasPrefix("http://other.test/v1/jobs?b=c%20d"))
        #expect(request.url.contains("open=o"))
        #expect(request.header("X-Open") == "o")
        let names = Set(request.headers.map(\.name.canonicalName))
        let sealed: Set = ["x-sealed", "x-api-key", "x-outer", "api-key"]
        #expect(names.intersection(sealed) == (isAllowed ? sealed : []))
        #expect(request.url.contains("sesame") == isAllowed)
        // What the program says itself is its own to say.
        if !isAllowed { #expect(request.header("Authorization") == "own") }
        let shown = request.url + request.headers.map { "\($0.name): \($0.value)\n" }.joined()
        #expect(shown.contains("sesame") == isAllowed, "\(shown)")
    }

    @Test("Without the wish for a digest none is made")
    func withoutDigest() async throws {
        let (sent, _) = try await send(
            """
            digest = str(first["request"]["body"]["sha256"])
            send(type="decorated", request={"headers": [{"name": "X-Digest", "value": digest}]})
            """, describing: #"{"digest": False}"#)
        #expect(sent?.header("X-Digest") == "None")
    }

    @Test(
        "What it must not do fails the step in words, and nothing is sent",
        arguments: [
            ("sys.exit(3)", "the decorator 'demo' ended with status 3"),
            ("print('hello')", "the decorator 'demo' printed a line that is not JSON: hello"),
            ("send(type='decorated')", "'decorated' without an object as its \"request\""),
            ("send(type='decorated', request={'headers': {}})", "\"headers\" that are no array"),
            ("send(type='decorated', request={'method': 'P T'})", "gave a method that is none"),
            ("send(type='decorated', request={'url': 'ftp://x/'})", "not an absolute http or https URL: ftp://x/"),
            (
                "send(type='decorated', request={'headers': [{'name': 'X', 'value': 'a\\r\\nb'}]})",
                "the header X contains a line break"
            ),
            ("send(type='finished')", "sent 'finished' at a moment when it means nothing"),
            ("send(type='failed', message='no key for ' + first['configuration']['t'])", "no key for ‹secret:T›"),
            ("sys.stdout.write('x' * 10**9)", "printed a line of more than 65536 bytes"),
            ("while True: send(type='progress', done=1)", "printed more than 131072 bytes"),
            ("time.sleep(600)", "did not answer within 0.5 seconds"),
        ])
    func hostile(body: String, message: String) async throws {
        var limits = PluginBench.quick
        if body.hasPrefix("time") { limits.answering = .milliseconds(500) }
        let (sent, result) = try await send(
            body, configuration: #"{ "t": "${{ secrets.T }}" }"#, limits: limits)
        let failed = try #require(result.failed)
        #expect(failed.failure.title.contains(message), "\(failed.failure.title)")
        #expect(failed.kind == .definite)
        #expect(sent == nil)
    }

    /// It was once said that the service gave no answer, and that it was waited for.
    @Test(
        "It may say that another try could help, or be ended by a signal: nothing is blamed on the service",
        arguments: [
            (
                #"send(type="failed", message="the key server is away", retryable=True)"#,
                "the decorator 'demo': the key server is away"
            ), ("os.kill(os.getpid(), signal.SIGSEGV)", "the decorator 'demo' was ended by signal 11 in the middle"),
        ])
    func retryable(body: String, title: String) async throws {
        let (sent, result) = try await send(body)
        let failed = try #require(result.failed)
        #expect(failed.kind == .answered && sent == nil)
        #expect(failed.failure.title.hasPrefix(title), "\(failed.failure.title)")
        #expect(failed.failure.service == nil && failed.failure.request == nil)
    }

    @Test("Its schema is checked with the document, and again when values are known")
    func schema() async throws {
        let describing = #"{"schema": {"type": "object", "properties": {"n": {"type": "integer"}}}}"#
        do {
            _ = try await send("", configuration: #"{ "n": "x" }"#, describing: describing)
            Issue.record("it was taken")
        } catch let error as DefinitionError {
            #expect(error.report.hasPrefix("test.json:2:"))
            #expect(error.report.contains("/services/api/with/0/demo/n"))
        }
        let (_, result) = try await send("", configuration: #"{ "n": "${{ 'x' }}" }"#, describing: describing)
        #expect(result.failed?.failure.title.contains("the decorator 'demo' is wrong at /n") == true)
    }

    @Test("One that can't describe itself is a mistake at its place")
    func broken() async throws {
        let bench = try PluginBench("")
        try bench.program("pipeline-decorator-demo", "#!/bin/sh\nexit 7\n")
        do {
            _ = try await Self.plan(bench, ScriptedService(), "{}", #""json": {}"#)
            Issue.record("it was taken")
        } catch let error as DefinitionError {
            #expect(error.report.contains("ended with status 7"))
            #expect(error.report.contains("at /services/api/with/0/demo"))
        }
    }
}
