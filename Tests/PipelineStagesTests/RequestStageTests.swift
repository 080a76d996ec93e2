import Foundation
import JSONPath
import PipelineCore
import PipelineHTTP
import PipelineTestKit
import Testing

@Suite("A request stage")
struct RequestStageTests {
    private func bench(
        _ service: ScriptedService, _ request: String, extra: String = "", captures: [String: JSON] = [:],
        folder: String = "/tmp", before: String = "", inputs: JSONObject = [:]
    ) throws -> StageBench {
        try StageBench(
            before + #"{ "id": "a", "kind": "request", "service": "api", \#(extra) "request": { \#(request) } }"#,
            network: service.network, inputs: inputs, captures: captures,
            folders: JobFolders(document: folder, output: folder))
    }

    @Test("takes captures out of the answer")
    func captures() async throws {
        let service = ScriptedService()
        service.on("GET /v1/me", 200, #"{"name": "soroush", "age": 3}"#)
        let bench = try bench(
            service, #""GET": "/me", "capture": { "name": "$.name" }"#, extra: #""capture": { "age": "$.age" },"#)
        #expect(await bench.resume().isFinished)
        #expect(bench.captures == ["name": "soroush", "age": 3])
    }

    /// It was thrown away, and nobody knew whether the request was taken that had been answered.
    @Test("keeps the response to what must not be sent twice until it can be written")
    func unwritten() async throws {
        let folder = TemporaryFolder()
        try folder.write("a.json", "another")
        let service = ScriptedService()
        service.on("POST /v1/jobs", 200, #"{"id": "j1"}"#)
        let bench = try bench(
            service, #""POST": "/jobs""#, extra: #""to": "a.json", "capture": { "id": "$.id" },"#, folder: folder.path)
        #expect(await bench.resume().definite?.contains("a different file is at") == true)
        #expect(bench.host.read { $0.record?.phase } == .submitted)
        #expect(await bench.resume().definite != nil)
        unlink(folder.file("a.json"))
        #expect(await bench.resume().isFinished)
        #expect(try String(contentsOfFile: folder.file("a.json"), encoding: .utf8) == #"{"id": "j1"}"#)
        #expect(service.lines == ["POST /v1/jobs"])
    }

    /// It failed for good at services that answer in JSON.
    @Test(
        "is tried again where its signature was too old when it came, or the rest of it too slow",
        arguments: [
            (403, "<Error><Code>RequestTimeTooSkewed</Code></Error>", AttemptFailure.Kind.answered),
            (400, "<Error><Code>RequestTimeout</Code></Error>", .answered),
            (400, "<Error><Code>BadDigest</Code></Error>", .definite),
            (
                403, #"{"__type": "a.b#InvalidSignatureException", "message": "Signature expired: 1 is before 2"}"#,
                .answered
            ),
            (403, #"{"__type": "InvalidSignatureException", "message": "It does not match"}"#, .definite),
        ])
    func oldSignature(status: Int, body: String, kind: AttemptFailure.Kind) async throws {
        let service = ScriptedService()
        service.on("GET /v1/me", status, body)
        let sign = #""with": [ { "sigv4": { "region": "r", "service": "s", "accessKey": "AK", "secretKey": "x" } } ]"#
        #expect(try await bench(service, #""GET": "/me", \#(sign)"#).resume().tryFailure?.kind == kind)
    }

    @Test("tells what S3 says in XML, and of a clock that goes wrong as such")
    func storageError() async throws {
        let service = ScriptedService()
        service.on("GET /v1/a", 403, "<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>")
        service.on("GET /v1/b", 403, "<Error><Code>RequestTimeTooSkewed</Code><Message/></Error>")
        let denied = try #require(await bench(service, #""GET": "/a""#).resume().tryFailure?.failure)
        #expect(denied.title.hasSuffix("answered 403 Forbidden: Access Denied"))
        #expect(denied.hint?.contains("credentials") == true)
        let skewed = try #require(await bench(service, #""GET": "/b""#).resume().tryFailure?.failure)
        #expect(skewed.title.hasSuffix("answered 403 Forbidden"))
        #expect(skewed.hint?.contains("this machine's clock") == true)
    }

    @Test("says whether another try may help", arguments: [(503, AttemptFailure.Kind.answered), (404, .definite)])
    func failure(status: Int, kind: AttemptFailure.Kind) async throws {
        let service = ScriptedService()
        service.on("GET /v1/me", status, "", headers: ["Retry-After": "3"])
        let failed = try #require(await bench(service, #""GET": "/me""#).resume().tryFailure)
        #expect(failed.kind == kind)
        #expect(failed.retryAfter == (kind == .answered ? .seconds(3) : nil))
    }

    /// A link that had expired was renewed from the cache, and what a rule had ruled out came again.
    @Test("asks the service itself when it is tried again or runs again, whatever a cache has")
    func pastCache() async throws {
        let fresh = CachePolicy(maxAge: .seconds(3600))
        for (attempt, generation, policy) in [(1, 1, fresh), (2, 1, fresh.revalidating), (1, 2, fresh.revalidating)] {
            let service = ScriptedService()
            service.on("GET /v1/links", 200, "{}")
            let bench = try bench(service, #""GET": "/links", "with": [ { "cache": { "maxAge": "1h" } } ]"#)
            bench.host.read { state in
                state.attempt = attempt
                state.record = SubmitRecord(key: "k", generation: generation, digest: "")
            }
            #expect(await bench.resume().isFinished)
            #expect(service.requests.map(\.cachePolicy) == [policy])
        }
    }

    @Test("with DELETE is repeated freely, with POST it goes through the ledger")
    func ledger() async throws {
        let service = ScriptedService()
        service.on("DELETE /v1/x", fails: .connectionReset)
        service.on("POST /v1/x", fails: .connectionReset)
        #expect(await (try bench(service, #""DELETE": "/x""#)).resume().tryFailure?.kind == .silent)
        let post = try bench(service, #""POST": "/x""#)
        #expect(await post.resume().unknown != nil)
        #expect(post.host.read { $0.phases } == [.intent, .sending, .unknown])
        #expect(
            StageBench.report(
                #"{ "id": "a", "kind": "request", "request": { "GET": "http://h", "once": { "resend": true } } }"#
            )
            .contains("'once' has a meaning only with POST and PATCH"))
    }

    /// It was told as a service that gave no answer, with the network as what to look at.
    @Test("whose token endpoint gives none now waits as long as for a service that is away, and until that says")
    func withoutToken() async throws {
        for method in ["GET", "POST"] {
            let service = ScriptedService()
            service.on(
                "\(method) /v1/x", fails: .tokenUnavailable(status: 429, retryAfter: .seconds(20)),
                connectionMade: false)
            let failed = try #require(await (try bench(service, #""\#(method)": "/x""#)).resume().tryFailure)
            #expect(failed.kind == .silent && failed.retryAfter == .seconds(20))
            #expect(failed.failure.title == "the wire broke" && failed.failure.hint == nil)
        }
    }

    @Test("writes the body to a file whole, and again after a crash")
    func writes() async throws {
        let folder = TemporaryFolder()
        let service = ScriptedService()
        service.on("POST /v1/x", 200, "body of the answer")
        let bench = try bench(
            service, #""POST": "/x", "once": { "resend": true }"#, extra: #""to": "out.txt","#, folder: folder.path)
        bench.host.read { $0.crashPoint = .submitAnswered }
        await bench.resume()
        bench.host.read { state in
            state.journalFailure = nil
            state.crashPoint = nil
        }
        #expect(await bench.run().isFinished)
        #expect(folder.read("out.txt") == "body of the answer")
        #expect(folder.names == ["out.txt"])
        let files = bench.host.read { $0.files }
        #expect(files.last?.path == "\(folder.path)/out.txt")
        #expect(
            files.last?.sha256 == "f4520d4353eae4f0d3f92de9e77ac4a87f77fe2ba2e034fdae09ccb048241a0f")
    }

    @Test("does not replace a different file")
    func existing() async throws {
        let folder = TemporaryFolder()
        try folder.write("out.txt", "mine")
        let service = ScriptedService()
        service.on("GET /v1/x", 200, "theirs")
        let bench = try bench(service, #""GET": "/x""#, extra: #""to": "out.txt","#, folder: folder.path)
        #expect(await bench.resume().definite?.contains("a different file is at") == true)
        #expect(folder.read("out.txt") == "mine")
        #expect(folder.names == ["out.txt"])
        try folder.write("out.txt", "theirs")
        #expect(await bench.resume().isFinished)
    }

    /// A stage that ran again for fresh captures failed over its own file.
    @Test("replaces the file that it wrote itself, as long as nobody has changed it")
    func ownFile() async throws {
        let folder = TemporaryFolder()
        let service = ScriptedService()
        for body in ["one", "two", "three"] { service.on("GET /v1/x", 200, body) }
        let bench = try bench(service, #""GET": "/x""#, extra: #""to": "out.txt","#, folder: folder.path)
        for body in ["one", "two"] {
            #expect(await bench.resume().isFinished)
            #expect(folder.read("out.txt") == body)
        }
        try folder.write("out.txt", "own")
        #expect(await bench.resume().definite?.contains("a different file is at") == true)
        #expect(folder.read("out.txt") == "own")
        #expect(folder.names == ["out.txt"])
    }

    @Test("lets no captured value choose a folder")
    func disarmed() async throws {
        let folder = TemporaryFolder()
        let service = ScriptedService()
        service.on("GET /v1/x", 200, "x")
        let bench = try bench(
            service, #""GET": "/x""#, extra: #""to": "${{ stages.first.name }}","#,
            captures: ["first": ["name": "../../etc/passwd"]], folder: folder.path,
            before:
                #"{ "id": "first", "kind": "request", "service": "api", "request": { "GET": "/f", "capture": { "name": "$.n" } } },"#
        )
        #expect(await bench.resume().isFinished)
        #expect(folder.names == ["passwd"])
    }

    @Test("lets the author's own items choose folders, and those of an answer not")
    func itemFolders() async throws {
        for (isOwn, name) in [(true, "sub/a.txt"), (false, "a.txt")] {
            let folder = TemporaryFolder()
            try folder.makeFolder("sub")
            let service = ScriptedService()
            service.on("GET /v1/x", 200, "x")
            let bench = try bench(
                service, #""GET": "/x""#, extra: #""forEach": "inputs.names", "to": "${{ item }}","#,
                folder: folder.path, inputs: ["names": ["sub/a.txt"]])
            bench.host.read { state in
                state.scope.item = "sub/a.txt"
                state.scope.itemIsOwn = isOwn
            }
            #expect(await bench.resume().isFinished)
            #expect(folder.read(name) == "x")
        }
    }

    @Test("follows as many redirects, and opens as many connections, as an expression says")
    func computedNumbers() async throws {
        let service = ScriptedService()
        service.on("GET /v1/x", 200, "x")
        let limits = """
            { "connections": "${{ inputs.n }}", "requestsPerSecond": "${{ inputs.n / 2 }}",
              "send": "${{ inputs.rate }}", "stall": { "below": "${{ inputs.rate }}", "for": "5s" } }
            """
        let bench = try StageBench(
            #"{ "id": "a", "kind": "request", "service": "api", "request": { "GET": "/x", "redirects": "${{ inputs.n }}" } }"#,
            network: service.network, inputs: ["n": 3, "rate": "1MB/s"], with: "[], \"limits\": \(limits)")
        #expect(await bench.resume().isFinished)
        let options = try #require(service.sentOptions.first)
        #expect(options.redirects == 3)
        #expect(options.limits?.connections == 3)
        #expect(options.limits?.requestsPerSecond == 1.5)
        #expect(options.limits?.sendRate == 1_000_000)
        #expect(options.stall?.bytesPerSecond == 1_000_000)
    }
}

@Suite("Stages that write and wait")
struct SmallStageTests {
    private func write(_ content: String, inputs: JSONObject = [:]) async throws -> (TemporaryFolder, StageBench) {
        let folder = TemporaryFolder()
        let bench = try StageBench(
            #"{ "id": "a", "kind": "write", "to": "sub.json", \#(content) }"#, network: ScriptedService().network,
            inputs: inputs, folders: JobFolders(document: folder.path, output: folder.path))
        await bench.resume()
        return (folder, bench)
    }

    @Test("a value becomes a file as JSON, text or base64")
    func contents() async throws {
        let json = try await write(#""json": { "a": "${{ inputs.x }}" }"#, inputs: ["x": [1, 2]])
        #expect(json.0.read("sub.json") == "{\n  \"a\": [\n    1,\n    2\n  ]\n}\n")
        #expect(json.1.captures["path"] == .string("\(json.0.path)/sub.json"))
        let text = try await write(#""text": "hello ${{ inputs.x }}""#, inputs: ["x": "you"])
        #expect(text.0.read("sub.json") == "hello you")
        for spelling in ["aGk_Pw==", "aGk/Pw", "data:text/plain;base64,aGk/\nPw=="] {
            let base64 = try await write(#""base64": "${{ inputs.x }}""#, inputs: ["x": .string(spelling)])
            #expect(base64.0.read("sub.json") == "hi??", "\(spelling)")
        }
    }

    @Test("what is no base64 fails, and two contents are an error")
    func mistakes() async throws {
        let (folder, bench) = try await write(#""base64": "${{ inputs.x }}""#, inputs: ["x": "no base64!"])
        #expect(await bench.resume().definite == "the value of 'base64' is no base64")
        #expect(folder.names.isEmpty)
        #expect(
            StageBench.report(#"{ "id": "a", "kind": "write", "to": "x", "json": 1, "text": "2" }"#)
                .contains("a write has one content, and this one has 2"))
        #expect(
            StageBench.report(#"{ "id": "a", "kind": "write", "to": "x", "base64": "no base64!" }"#)
                .contains("the value of 'base64' is no base64"))
    }

    @Test("a wait ends so long after the stage's start, over restarts")
    func waiting() async throws {
        let bench = try StageBench(#"{ "id": "a", "kind": "wait", "for": "90s" }"#, network: ScriptedService().network)
        #expect(await bench.resume().isWaiting)
        #expect(bench.reason?.kind == .time)
        #expect(bench.wait == 90)
        bench.host.read { $0.now += .seconds(50) }
        bench.checkpoint = nil
        #expect(await bench.stage.resume(nil, bench.host).isWaiting)
        #expect(await bench.resume().isFinished)
    }

    @Test("a wait until a time that has passed ends at once, and one for no time is an error")
    func until() async throws {
        let past = try StageBench(
            #"{ "id": "a", "kind": "wait", "until": "2001-01-01T00:00:00Z" }"#, network: ScriptedService().network)
        #expect(await past.resume().isFinished)
        let bad = try StageBench(
            #"{ "id": "a", "kind": "wait", "until": "${{ inputs.x }}" }"#, network: ScriptedService().network,
            inputs: ["x": "soon"])
        #expect(await bad.resume().definite == "'until': \"soon\" is no time")
        #expect(StageBench.report(#"{ "id": "a", "kind": "wait", "until": "soon" }"#).contains("\"soon\" is no time"))
        #expect(
            StageBench.report(#"{ "id": "a", "kind": "wait" }"#).contains(
                "a wait has one of \"for\", a duration, \"until\", a time, and \"callback\", a push"))
    }
}
