import Crypto
import Foundation
import JSONPath
import PipelineTestKit
import Synchronization
import Testing

@Suite("Pushes to jobs in the background")
struct CallbackTests {
    private static let key = Data((0..<32).map { UInt8($0) })
    private static var secret: String { "whsec_" + key.base64EncodedString() }

    @Test("a genuine push wakes its stage at once, once it is kept; what is forged, foreign or too large is refused")
    func wakes() async throws {
        try await withPushedJob { workplace, service, port, path in
            let body = Array(#"{"id":"7","state":"done"}"#.utf8)
            let (before, asked) = (service.polls, service.server.requests.count)
            #expect(await RawPost.send(to: path, port: port, body: body) == 401)
            #expect(await RawPost.send(to: path, port: port, headers: Self.signed(body, at: -600), body: body) == 401)
            #expect(await RawPost.send(to: path, port: port, headers: Self.signed(body), body: body + [32]) == 401)
            // One in 65536 tokens ends so itself.
            let forged = path.dropLast(4) + (path.hasSuffix("0000") ? "1111" : "0000")
            #expect(await RawPost.send(to: String(forged), port: port, headers: Self.signed(body), body: body) == 404)
            #expect(await RawPost.send("GET", to: path, port: port, body: []) == 404)
            let large = [UInt8](repeating: 32, count: 2 << 20)
            #expect(await RawPost.send(to: path, port: port, headers: Self.signed(large), body: large) == 413)
            let foreign = Array(#"{"id":"8"}"#.utf8)
            #expect(await RawPost.send(to: path, port: port, headers: Self.signed(foreign), body: foreign) == 204)
            #expect(try await workplace.show()["state"] == "waiting" && service.polls == before)
            // A push that lies costs one poll: the poll says that the job goes on.
            #expect(await RawPost.send(to: path, port: port, headers: Self.signed(body, id: "lie"), body: body) == 204)
            _ = await service.server.requests(atLeast: asked + 1)
            _ = try await workplace.waitFor(["waiting"])
            #expect(await RawPost.send(to: path, port: port, headers: Self.signed(body, id: "lie"), body: body) == 204)
            service.remote.finish()
            // The next poll of its own is an hour away.
            #expect(await RawPost.send(to: path, port: port, headers: Self.signed(body, id: "end"), body: body) == 204)
            _ = await service.server.requests(atLeast: asked + 2)
            #expect(try await workplace.waitFor(["succeeded", "failed"])["state"] == "succeeded")
            #expect(service.polls == before + 2, "the repetition woke nothing")
            #expect(await RawPost.send(to: path, port: port, headers: Self.signed(body, id: "late"), body: body) == 410)
        }
    }

    @Test("a result that comes by a callback alone is taken out of it; what lacks it only wakes")
    func captured() async throws {
        let document = """
            { "pipeline": 1, "name": "heard", "services": { "s": { "url": "SERVER" } },
              "stages": [
                { "id": "words", "kind": "compute", "service": "s",
                  "submit": { "POST": "/listen", "json": { "callback": "${{ self.callbackURL }}" },
                              "capture": { "id": "$.id" } },
                  "callback": { "verify": { "standardWebhooks": "${{ secrets.HOOK }}" },
                                "match": "response.body.id == self.id", "capture": { "text": "$.text" } } },
                { "id": "result", "kind": "write", "to": "words.txt",
                  "text": "${{ stages.words.text }}" } ] }
            """
        try await withPushedJob(document) { workplace, service, port, path in
            // It lacks what is captured: it wakes the stage, which waits on.
            let empty = Array(#"{"id":"7"}"#.utf8)
            #expect(await RawPost.send(to: path, port: port, headers: Self.signed(empty, id: "a"), body: empty) == 204)
            _ = try await workplace.waitFor(["waiting"])
            let words = Array(#"{"id":"7","text":"hello \#(Self.secret)"}"#.utf8)
            #expect(await RawPost.send(to: path, port: port, headers: Self.signed(words, id: "b"), body: words) == 204)
            #expect(try await workplace.waitFor(["succeeded", "failed"])["state"] == "succeeded")
            #expect(service.polls == 0)
            let log = try await workplace.run("logs", "last", "--json")
            let told = #"a push came without all that \"callback\" captures from it (text)"#
            #expect(log.output.contains(told), "\(log.output)")
            // A secret that the service repeats is sealed in the journal, and whole in the result.
            let files = try #require(try await workplace.show()["files"]?.array)
            let written = try #require(files.first?["path"]?.string)
            #expect(workplace.bytes(written) == Array("hello \(Self.secret)".utf8))
            for name in workplace.files(below: workplace.state) {
                let kept = workplace.bytes("\(workplace.state)/\(name)") ?? []
                let shows = String(decoding: kept, as: UTF8.self).contains(Self.secret)
                #expect(!shows, "\(name)")
            }
        }
    }

    // The service calls before it has answered the submit: the id that 'match' reads is not known yet.
    @Test("a callback that comes before the submit's answer is kept, over a kill too, and judged once that is there")
    func early() async throws {
        let document = """
            { "pipeline": 1, "name": "early", "services": { "s": { "url": "SERVER" } },
              "stages": [
                { "id": "words", "kind": "compute", "service": "s",
                  "submit": { "POST": "/listen", "json": { "callback": "${{ self.callbackURL }}" },
                              "capture": { "id": "$.id" }, "once": { "key": "Idempotency-Key" } },
                  "callback": { "verify": { "standardWebhooks": "${{ secrets.HOOK }}" },
                                "match": "response.body.id == self.id", "capture": { "text": "$.text" } } },
                { "id": "result", "kind": "write", "to": "words.txt",
                  "text": "${{ stages.words.text }}" } ] }
            """
        try await withWorkplace { workplace in
            let service = try PushingService()
            service.remote.isSilent = true
            defer { service.server.stop() }
            let begun = try await Self.handOver(document, in: workplace, service)
            var (daemon, port) = (begun.daemon, begun.port)
            let path = begun.path
            let foreign = Array(#"{"id":"8","text":"another's \#(Self.secret)"}"#.utf8)
            let words = Array(#"{"id":"7","text":"hello"}"#.utf8)
            #expect(await RawPost.send(to: path, port: port, headers: Self.signed(words, id: "a"), body: words) == 204)
            #expect(
                await RawPost.send(to: path, port: port, headers: Self.signed(foreign, id: "b"), body: foreign) == 204)
            daemon.signal(SIGKILL)
            _ = await daemon.end
            for name in workplace.files(below: workplace.state) {
                let kept = workplace.bytes("\(workplace.state)/\(name)") ?? []
                let shows = String(decoding: kept, as: UTF8.self).contains(Self.secret)
                #expect(!shows, "\(name)")
            }
            service.remote.isSilent = false
            daemon = try workplace.start("daemon", environment: Self.environment)
            port = try #require(await Self.port(of: daemon))
            // What it says again is known.
            #expect(await RawPost.send(to: path, port: port, headers: Self.signed(words, id: "a"), body: words) != 404)
            #expect(try await workplace.waitFor(["succeeded", "failed"])["state"] == "succeeded")
            let files = try #require(try await workplace.show()["files"]?.array)
            let written = try #require(files.first?["path"]?.string)
            #expect(workplace.bytes(written) == Array("hello".utf8))
            daemon.signal(SIGTERM)
            #expect(await daemon.end.cause == .exited(0))
        }
    }

    /// It answered 503 to each, forever, when it had no such secret itself.
    @Test(
        "the owner verifies a push for a job that stays with its command by the command's secret",
        arguments: [[], ["--each", "rows.csv"]])
    func attached(more: [String]) async throws {
        try await withWorkplace { workplace in
            let service = try PushingService()
            defer { service.server.stop() }
            let address = ["PIPELINE_CALLBACK_URL": "https://push.example/hooks/"]
            let daemon = try workplace.start("daemon", environment: address)
            let port = try #require(await Self.port(of: daemon))
            let inputs = #""name": "pushed", "inputs": { "n": { "type": "string", "default": "0" } }"#
            let document = Self.document(service.server.url).replacing(#""name": "pushed""#, with: inputs)
                .replacing("done\" }", with: "done ${{ inputs.n }}\" }")
            let file = try workplace.write("pushed.json", document)
            try workplace.write("rows.csv", "n\n1\n")
            let run = try workplace.program.start(
                ["run", file, "--output", workplace.output] + more,
                environment: workplace.environment(address.merging(["PIPELINE_SECRET_HOOK": Self.secret]) { $1 }),
                folder: workplace.folder)
            let url = try #require(await service.remote.addresses.first { _ in true })
            let path = String(url.dropFirst("https://push.example".count))
            let body = Array(#"{"id":"7","state":"done"}"#.utf8)
            #expect(await RawPost.send(to: path, port: port, body: body) == 401)
            service.remote.finish()
            #expect(await RawPost.send(to: path, port: port, headers: Self.signed(body), body: body) == 204)
            let end = await run.end
            #expect(end.cause == .exited(0) && !end.errors.contains("no push can come"), "\(end)")
            #expect(await daemon.hasWritten("was refused: it does not prove"), "\(daemon.text)")
            daemon.signal(SIGTERM)
            #expect(await daemon.end.cause == .exited(0))
            let deaf = try workplace.program.start(
                ["run", file, "--output", workplace.output] + (more.isEmpty ? [] : more + ["--batch", "other"]),
                environment: workplace.environment(address.merging(["PIPELINE_SECRET_HOOK": Self.secret]) { $1 }),
                folder: workplace.folder)
            #expect(await deaf.hasWritten("no push can come to this job"), "\(deaf.text)")
            deaf.signal(SIGTERM)
            _ = await deaf.end
        }
    }

    /// It was answered 410, and the retry waited for it in vain.
    @Test("a push for a step that failed at its deadline is kept while its remote job goes on, and ends the retry")
    func afterDeadline() async throws {
        let document = """
            { "pipeline": 1, "name": "words", "services": { "api": { "url": "SERVER" } },
              "stages": [
                { "id": "words", "kind": "compute", "service": "api", "deadline": "500ms",
                  "submit": { "POST": "/v1/jobs", "json": { "callback": "${{ self.callbackURL }}" },
                              "capture": { "id": "$.id" } },
                  "callback": { "verify": { "standardWebhooks": "${{ secrets.HOOK }}" }, "capture": { "text": "$.text" } }
                } ] }
            """
        try await withWorkplace { workplace in
            let service = try PushingService()
            defer { service.server.stop() }
            let (daemon, port, path) = try await Self.handOver(document, in: workplace, service)
            #expect(try await workplace.waitFor(["succeeded", "failed"])["state"] == "failed")
            let body = Array(#"{"text":"hello"}"#.utf8)
            #expect(await RawPost.send(to: path, port: port, headers: Self.signed(body), body: body) == 204)
            let retry = try await workplace.run("retry", "last", environment: Self.environment)
            #expect(retry.cause == .exited(0), "\(retry)")
            #expect(service.server.requests.count { $0.method == "POST" } == 1)
            #expect(await RawPost.send(to: path, port: port, headers: Self.signed(body), body: body) == 410)
            daemon.signal(SIGTERM)
            #expect(await daemon.end.cause == .exited(0))
        }
    }

    /// Nothing told it, so that nobody could push.
    @Test("'why' tells where a push for a wait is taken; 'signal' brings none of what it captures")
    func addressOfWait() async throws {
        try await withWorkplace { workplace in
            let environment = ["PIPELINE_CALLBACK_URL": "https://push.example/hooks/", "PIPELINE_SECRET_T": "abcdef"]
            let daemon = try workplace.start("daemon", environment: environment)
            let port = try #require(await Self.port(of: daemon))
            let file = try workplace.write(
                "approve.json",
                #"""
                { "pipeline": 1, "name": "approve", "stages": [
                  { "id": "approval", "kind": "wait", "callback": {
                      "verify": { "token": { "header": "X-Token", "value": "${{ secrets.T }}" } },
                      "capture": { "by": "$.by" } } },
                  { "id": "note", "kind": "write", "to": "by.txt", "text": "${{ stages.approval.by }}" } ] }
                """#)
            _ = try await workplace.run("run", file, "--detach", environment: environment)
            _ = try await workplace.waitFor(["waiting"])
            let signal = try await workplace.run("signal", "last", "approval", environment: environment)
            #expect(signal.cause == .exited(64) && signal.errors.contains("brings (by)"), "\(signal)")
            let why = try await workplace.run("why", "last", environment: environment)
            let found = try #require(why.output.firstMatch(of: /taken at https:\/\/push\.example(\S+)/), "\(why)")
            let body = Array(#"{"by":"Ann"}"#.utf8)
            #expect(
                await RawPost.send(to: String(found.1), port: port, headers: ["X-Token": "abcdef"], body: body) == 204)
            #expect(try await workplace.waitFor(["succeeded", "failed"])["state"] == "succeeded")
            daemon.signal(SIGTERM)
            #expect(await daemon.end.cause == .exited(0))
        }
    }

    @Test("'signal' does by hand what a push does")
    func signal() async throws {
        try await withPushedJob { workplace, service, _, _ in
            service.remote.finish()
            let end = try await workplace.run("signal", "last", "model")
            #expect(end.cause == .exited(0) && end.errors.contains("was woken"), "\(end)")
            #expect(try await workplace.waitFor(["succeeded", "failed"])["state"] == "succeeded")
            #expect(try await workplace.run("signal", "last", "other").cause == .exited(64))
        }
    }

    @Test("'signal' to a stage that has not begun says so, and is kept for it")
    func signalBefore() async throws {
        try await withBackground { workplace, _, background in
            let file = try workplace.write(
                "later.json",
                #"""
                { "pipeline": 1, "name": "later", "stages": [
                  { "id": "pause", "kind": "wait", "for": "1s" }, { "id": "approval", "kind": "wait", "callback": {} } ] }
                """#)
            _ = try await workplace.run("run", file, "--detach")
            _ = try await workplace.waitFor(["waiting"])
            let end = try await workplace.run("signal", "last", "approval")
            #expect(end.cause == .exited(0) && end.errors.contains("'approval' of job"), "\(end)")
            #expect(end.errors.contains("has not begun; it goes on at once when it gets there"), "\(end)")
            #expect(try await workplace.waitFor(["succeeded", "failed"])["state"] == "succeeded")
            try await background.end(by: SIGTERM)
        }
    }

    /// A job whose stage asks once an hour and waits for a push; the port of the receiver, and its path there.
    private func withPushedJob(
        _ document: String? = nil, _ body: (Workplace, PushingService, UInt16, String) async throws -> Void
    ) async throws {
        try await withWorkplace { workplace in
            let service = try PushingService()
            defer { service.server.stop() }
            let environment = [
                "PIPELINE_CALLBACK_URL": "https://push.example/hooks/", "PIPELINE_SECRET_HOOK": Self.secret,
            ]
            let daemon = try workplace.start("daemon", environment: environment)
            let port = try #require(await Self.port(of: daemon))
            let file = try workplace.write(
                "pushed.json",
                document?.replacing("SERVER", with: service.server.url) ?? Self.document(service.server.url))
            let end = try await workplace.run(
                "run", file, "--detach", environment: ["PIPELINE_SECRET_HOOK": Self.secret])
            #expect(end.cause == .exited(0), "\(end)")
            _ = await service.server.requests(atLeast: 1)
            _ = try await workplace.waitFor(["waiting"])
            let address = try #require(service.remote.address)
            #expect(address.hasPrefix("https://push.example/hooks/callbacks/"))
            let result = await Swift.Result {
                try await body(workplace, service, port, String(address.dropFirst("https://push.example".count)))
            }
            daemon.signal(SIGTERM)
            #expect(await daemon.end.cause == .exited(0))
            try result.get()
        }
    }

    /// Returns where the background owner takes callbacks, once it is ready.
    private static func port(of daemon: RunningProgram) async -> UInt16? {
        guard await daemon.hasWritten("ready"),
            let said = daemon.text.range(of: "pushes are taken on 127.0.0.1:")
        else { return nil }
        return UInt16(daemon.text[said.upperBound...].prefix { $0.isNumber })
    }

    private static func document(_ url: String) -> String {
        """
        { "pipeline": 1, "name": "pushed", "services": { "s": { "url": "\(url)" } },
          "stages": [
            { "id": "model", "kind": "compute", "service": "s",
              "submit": { "POST": "/jobs", "json": { "callback": "${{ self.callbackURL }}" },
                          "capture": { "id": "$.id" } },
              "poll": { "GET": "/jobs/${{ self.id }}", "status": "$.state", "succeeded": ["done"], "every": "1h" },
              "callback": { "verify": { "standardWebhooks": "${{ secrets.HOOK }}" },
                            "match": "response.body.id == self.id" } },
            { "id": "other", "kind": "write", "to": "x.txt", "text": "done" } ] }
        """
    }

    private static var environment: [String: String] {
        ["PIPELINE_CALLBACK_URL": "https://push.example/hooks/", "PIPELINE_SECRET_HOOK": secret]
    }

    /// Hands a job of the document to a background owner: that, the port of its receiver, and the path of the address that
    /// the service was given.
    private static func handOver(
        _ document: String, in workplace: Workplace, _ service: PushingService
    ) async throws -> (daemon: RunningProgram, port: UInt16, path: String) {
        let daemon = try workplace.start("daemon", environment: environment)
        let port = try #require(await port(of: daemon))
        let file = try workplace.write("words.json", document.replacing("SERVER", with: service.server.url))
        let end = try await workplace.run("run", file, "--detach", environment: environment)
        #expect(end.cause == .exited(0), "\(end)")
        let address = try #require(await service.remote.addresses.first { _ in true })
        return (daemon, port, String(address.dropFirst("https://push.example".count)))
    }

    private static func signed(_ body: [UInt8], id: String = "evt", at shift: Int = 0) -> [String: String] {
        let time = Int(Date().timeIntervalSince1970) + shift
        let code = HMAC<SHA256>.authenticationCode(
            for: Data("\(id).\(time).".utf8) + body, using: SymmetricKey(data: key))
        return [
            "webhook-id": id, "webhook-timestamp": "\(time)",
            "webhook-signature": "v1,\(Data(code).base64EncodedString())",
        ]
    }
}

/// A service whose job ends when it is told to, and which keeps the address that it was given to push to.
private final class PushingService: Sendable {
    final class Remote: Sendable {
        private let state = Mutex<(isDone: Bool, isSilent: Bool, address: String?)>((false, false, nil))
        /// True if it takes a submit and does not answer it.
        var isSilent: Bool {
            get { state.withLock { $0.isSilent } }
            set { state.withLock { $0.isSilent = newValue } }
        }
        var isDone: Bool { state.withLock { $0.isDone } }
        var address: String? { state.withLock { $0.address } }
        func finish() { state.withLock { $0.isDone = true } }
        /// Each address, as it comes.
        let (addresses, came) = AsyncStream.makeStream(of: String.self)
        func keep(_ address: String?) {
            state.withLock { $0.address = address }
            if let address { came.yield(address) }
        }
    }

    let remote = Remote()
    let server: LoopbackServer

    init() throws {
        server = try LoopbackServer { [remote] request in
            if request.method == "POST" {
                remote.keep((try? JSON.parse(request.body))?["callback"]?.string)
                if remote.isSilent { return .silence }
                return .json(#"{"id":"7"}"#, status: 201)
            }
            return .json(remote.isDone ? #"{"state":"done"}"# : #"{"state":"running"}"#)
        }
    }

    var polls: Int { server.requests.count { $0.method == "GET" } }
}
