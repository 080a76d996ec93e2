import JSONPath
import PipelineCore
import PipelineStages
import PipelineTestKit
import Testing

@Suite("A stage that a program does", .serialized, .timeLimit(.minutes(3)))
struct ProgramStageTests {
    @Test("It gets its configuration with the values of expressions, and its captures come back")
    func configuration() async throws {
        let bench = try PluginBench(
            """
            send(type="progress", done=1, total=4)
            first.pop("folder"); first.pop("job")
            send(type="finished", captures={"id": first})
            """)
        bench.host.read { $0.scope.inputs = ["n": 7] }
        let captures = try await bench.resume(#""size": "${{ inputs.n }}", "list": ["a ${{ job.key }}", null]"#)
            .captures
        let expected: JSON = [
            "type": "resume", "protocol": 1, "configuration": ["size": 7, "list": ["a key1", nil]], "checkpoint": nil,
            "stage": "work", "item": nil, "attempt": 1, "overwrite": false,
        ]
        #expect(captures?["id"] == expected)
        #expect(bench.host.read(\.progress) == [.remote(share: 0.25, secondsLeft: nil)])
    }

    @Test("A commit is durable before the program is told so; after a crash it goes on from there")
    func crash() async throws {
        let bench = try PluginBench(
            """
            if first["checkpoint"] is None:
                send(type="commit", checkpoint={"n": 1})
                assert receive() == {"type": "committed"}
                send(type="commit", checkpoint={"n": 2})
                assert receive() == {"type": "committed"}
                os.kill(os.getpid(), 9)
            send(type="finished", captures={"id": first["checkpoint"]["n"]})
            """)
        #expect(try await bench.resume().failed?.kind == .answered)
        #expect(bench.kept == #"{"n":2}"#)
        #expect(try await bench.resume().captures == ["id": 2])
    }

    @Test("While it waits nothing of it is left")
    func waiting() async throws {
        let bench = try PluginBench(
            #"send(type="waiting", checkpoint={"a": 1}, reason="the queue is long", **{"for": "1m30s"})"#)
        guard case .success(.waiting(let checkpoint, let wake, let reason)) = try await bench.resume() else {
            Issue.record("it does not wait")
            return
        }
        #expect(String(decoding: checkpoint, as: UTF8.self) == #"{"a":1}"#)
        #expect(wake.time == bench.host.now + .seconds(90))
        #expect(reason.detail == "the queue is long")
    }

    @Test("Its own failure is told as it says, with the end of its log")
    func failed() async throws {
        let bench = try PluginBench(
            """
            sys.stderr.write("line 1\\nline 2\\n")
            send(type="failed", message="no disk", hint="buy one", retryable=True)
            """)
        let failed = try #require(try await bench.resume().failed)
        #expect(failed.failure.title == "no disk")
        #expect(failed.failure.hint == "buy one")
        #expect(failed.failure.body == "line 1\nline 2")
        #expect(failed.kind == .answered)
    }

    @Test("Stopped, it has a grace in which what it commits is still kept")
    func stopped() async throws {
        let bench = try PluginBench(
            """
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
            send(type="commit", checkpoint={"n": "first"})
            receive()
            signal.sigwait({signal.SIGTERM})
            send(type="commit", checkpoint={"n": "last"})
            receive()
            """,
            limits: {
                var limits = PluginBench.quick; limits.grace = .seconds(20); return limits
            }())
        let host = StoppingHost(bench.host)
        let stage = try #require(try await bench.plan().stages.first?.stage)
        let call = Task { await stage.resume(nil, host) }
        await host.committed()
        call.cancel()
        #expect(await call.value.isStopped)
        #expect(bench.host.read { $0.checkpoint.map { String(decoding: $0, as: UTF8.self) } } == #"{"n":"last"}"#)
    }

    @Test("A cancellation carries the checkpoint; what goes wrong with it is told")
    func cancel() async throws {
        let bench = try PluginBench(
            """
            if first["type"] == "cancel":
                open("cancelled", "w").write(json.dumps(first["checkpoint"]))
                send(type="cancelled") if first["configuration"]["ok"] else send(type="failed", message="too late")
            """)
        bench.checkpoint = Array(#"{"job": 5}"#.utf8)
        #expect(try await bench.cancel(#""ok": true"#) == nil)
        #expect(bench.folder.read("cancelled") == #"{"job": 5}"#)
        guard case .failed(let failed)? = try await bench.cancel(#""ok": false"#) else {
            Issue.record("it did not fail")
            return
        }
        #expect(failed.failure.title == "too late")
        var open = SubmitRecord(key: "k", generation: 1, digest: "", phase: .sending)
        open.sends = 1
        bench.host.read { [open] in $0.record = open }
        guard case .failed(let unknown)? = try await bench.cancel(#""ok": true"#) else {
            Issue.record("what may be at the service was not told")
            return
        }
        #expect(unknown.failure.title == "it is not known whether the service took the submit")
    }

    // A sign-in that hands out one session twice failed for the first one's capture.
    @Test("A secret capture may hold what was captured before, and no secret of its configuration")
    func secretCaptures() async throws {
        let bench = try PluginBench(
            """
            values = {"session": "session-0123", "own": first["configuration"]["token"], "id": "session-0123"}
            name = first["configuration"]["give"]
            send(type="finished", captures={name: values[name]})
            """,
            describing: #"{"captures": [{"name": "session", "secret": True}, {"name": "own", "secret": True}, "id"]}"#,
            secrets: ["TOKEN": "sesame-sesame"])
        bench.host.conceal("session-0123", as: "work.session")
        func resume(giving name: String) async throws -> Result<StageOutcome<[UInt8]>, StageFailure> {
            try await bench.resume(#""give": "\#(name)", "token": "${{ secrets.TOKEN }}""#)
        }
        #expect(try await resume(giving: "session").captures == ["session": "session-0123"])
        for name in ["own", "id"] {
            let failed = try #require(try await resume(giving: name).failed)
            #expect(failed.failure.title.contains("put a secret of its configuration into its captures"))
        }
    }

    // MARK: Submits

    private static let submitting = """
        send(type="intent")
        answer = receive()
        if answer["type"] == "submit":
            open("keys", "a").write(answer["key"] + "\\n")
            if os.path.exists("fragile"):
                os.remove("fragile")
                os.kill(os.getpid(), 9)
            send(type="submitted", captures={"id": "job-1"})
        else:
            open("told", "w").write(json.dumps(answer["captures"]))
        send(type="finished", captures={})
        """

    @Test("A submit goes through the ledger: intent and sending are durable before the program may go ahead")
    func submit() async throws {
        let bench = try PluginBench(Self.submitting)
        #expect(try await bench.resume().captures == [:])
        #expect(bench.host.read(\.phases) == [.intent, .sending, .submitted])
        #expect(bench.host.read(\.captures) == ["id": "job-1"])
        #expect(bench.folder.read("keys") == bench.host.read { $0.record.map { $0.key + "\n" } })
        #expect(bench.host.read(\.points) == [.submitIntent, .submitSending, .submitAnswered, .submitCommitted])
        // Called once more, it is told that the submit was accepted before.
        #expect(try await bench.resume().captures == [:])
        #expect(bench.folder.read("told") == #"{"id": "job-1"}"#)
    }

    @Test("A submit in whose middle it dies is unknown, never sent blindly again")
    func unknown() async throws {
        let bench = try PluginBench(Self.submitting)
        try bench.folder.write("fragile", "")
        let lost = try #require(try await bench.resume().lost)
        #expect(lost.reason.contains("can send again under the same key"))
        #expect(bench.host.read(\.record)?.phase == .unknown)
        _ = try await bench.resume().lost
        #expect(bench.folder.read("keys")?.split(separator: "\n").count == 1)
    }

    @Test("With \"once\": \"key\" it is sent again, under the same key")
    func once() async throws {
        let bench = try PluginBench(Self.submitting, describing: #"{"once": "key"}"#)
        try bench.folder.write("fragile", "")
        #expect(try await bench.resume().failed?.kind == .silent)
        #expect(try await bench.resume().captures == [:])
        let keys = bench.folder.read("keys")?.split(separator: "\n") ?? []
        #expect(keys.count == 2)
        #expect(Set(keys).count == 1)
    }

    // A retry got the old submit's captures, and failed in the same way forever.
    @Test("Its failure after its submit ends what was submitted, unless it is retryable", arguments: [false, true])
    func remoteJobEnded(isRetryable: Bool) async throws {
        let bench = try PluginBench(
            """
            if not os.path.exists("early"):
                send(type="intent")
                if receive()["type"] == "submit":
                    send(type="submitted", captures={"id": "job-1"})
            send(type="failed", message="it is over", retryable=\(isRetryable ? "True" : "False"))
            """)
        try bench.folder.write("early", "")
        #expect(try await bench.resume().failed?.endsRemoteJob == false, "nothing was submitted")
        bench.folder.delete("early")
        for _ in 1...2 { #expect(try await bench.resume().failed?.endsRemoteJob == !isRetryable) }
    }

    @Test("What it says it can't tell is unknown in the ledger too")
    func saysUnknown() async throws {
        let bench = try PluginBench(#"send(type="unknown", checkpoint={"a": 1}, reason="the line went dead")"#)
        #expect(try await bench.resume().lost?.reason == "the line went dead")
        #expect(bench.host.read(\.record)?.phase == .unknown)
    }

    // MARK: Documents

    @Test("Mistakes in its configuration point into the document")
    func mistakes() async throws {
        let schema =
            #"{"schema": {"type": "object", "required": ["file"], "properties": {"file": {"type": "string"}, "#
            + #""scale": {"type": "integer", "maximum": 16}}}}"#
        let bench = try PluginBench("", describing: schema)
        let report = try await bench.report(#""scael": 9"#)
        #expect(report.contains("test.json:2:47: error: unknown key 'scael'"))
        #expect(report.contains("did you mean 'scale'?"))
        #expect(report.contains("test.json:2:15: error: 'file' is missing here"))
        let bounds = try await bench.report(#""file": "a", "scale": 99"#)
        #expect(bounds.contains("test.json:2:69: error: this must be at most 16\n  at /stages/0/scale"), "\(bounds)")
        #expect(try await bench.report(#""file": "a", "scale": "${{ inputs.n }}""#).isEmpty)
        #expect(try await bench.report(#""file": "${{ inputs.m }}""#).contains("inputs"))
    }

    @Test("A value that an expression gives is checked before the program sees it")
    func resolved() async throws {
        let bench = try PluginBench(
            #"send(type="finished")"#,
            describing: #"{"schema": {"properties": {"scale": {"type": "integer", "maximum": 16}}}}"#)
        bench.host.read { $0.scope.inputs = ["n": 17] }
        let failed = try #require(try await bench.resume(#""scale": "${{ inputs.n }}""#).failed)
        #expect(failed.failure.title.hasSuffix("is wrong at /scale: this must be at most 16"))
    }

    @Test("Its schema is part of that of documents, and an expression may stand in place of a number")
    func schema() async throws {
        let bench = try PluginBench(
            "", describing: #"{"schema": {"properties": {"scale": {"type": "integer", "maximum": 16}}}}"#)
        let text = PipelineSchema(catalogue: Catalogue(kinds: await bench.plugins.plugins().stages) { _, _ in }).json
            .text
        #expect(text.contains(#""const":"demo""#))
        #expect(text.contains(#""maximum":16"#))
        #expect(text.contains(#""scale":{"anyOf":"#))
    }
}
