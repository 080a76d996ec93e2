import CLibrary
import JSONPath
import PipelineCore
import PipelineStages
import Testing

@Suite("A hostile plugin fails its step with a clear message", .serialized, .timeLimit(.minutes(3)))
struct HostilePluginTests {
    @Test(
        "What it must not do is told in words",
        arguments: [
            ("sys.exit(3)", "ended with status 3 in the middle of its work"),
            ("sys.exit(0)", "ended without saying how its work ended"),
            ("1 / 0", "ended with status 1 in the middle of its work"),
            ("print('hello')", "printed a line that is not JSON: hello"),
            ("print('[1]')", "printed a line that is no object with a \"type\""),
            ("send(type='dance')", "printed a message of the unknown type 'dance'"),
            ("send(type='description')", "sent 'description' at a moment when it means nothing"),
            ("send(type='submitted')", "sent 'submitted' at a moment when it means nothing"),
            ("send(type='commit', checkpoint=7)", "printed a commit without an object as its \"checkpoint\""),
            ("send(type='waiting', checkpoint={})", "printed 'waiting' without \"for\" or \"until\""),
            ("send(type='waiting', checkpoint={}, **{'for': 'soon'})", "printed 'waiting' with a time that can't be"),
            ("send(type='failed')", "printed 'failed' without a \"message\""),
            (
                "send(type='finished', captures={'other': 1})",
                "gave a capture 'other' that its description does not have"
            ),
            ("while True: send(type='progress', done=1, total=2)", "printed more than 1048576 bytes"),
            ("while True: sys.stdout.write('x' * 1000000)", "printed a line of more than 65536 bytes"),
            ("while True: sys.stderr.write('x' * 1000000)", "wrote more than 1048576 bytes to standard error"),
            ("os.close(1); time.sleep(600)", "closed its standard output without saying how its work ended"),
            ("os.close(0); send(type='commit', checkpoint={}); time.sleep(600)", "closed its standard input, or ended"),
        ])
    func hostile(body: String, message: String) async throws {
        let bench = try PluginBench(body)
        let failed = try #require(try await bench.resume().failed)
        #expect(failed.failure.title.contains("the plugin 'demo' \(message)"), "\(failed.failure.title)")
        #expect(failed.kind == .definite)
    }

    @Test(
        "Of a secret that it repeats nothing is shown, wherever the message is cut",
        arguments: [
            "print('x' * 60 + '0123456789' * 5)",
            "send(type='x' * 60 + '0123456789' * 5)",
            "send(type='failed', message='x' * 1970 + '0123456789' * 5)",
        ])
    func cutSecret(body: String) async throws {
        let bench = try PluginBench(body, secrets: ["TOKEN": String(repeating: "0123456789", count: 5)])
        let failed = try #require(try await bench.resume().failed)
        #expect(!failed.failure.title.contains("0123"), "\(failed.failure.title)")
        #expect(failed.failure.title.contains("‹secret:"))
    }

    @Test("A signal from outside may not come again: another try follows, and the log's end is shown")
    func killed() async throws {
        let bench = try PluginBench(
            "sys.stderr.write('before the end\\n'); sys.stderr.flush(); os.kill(os.getpid(), 9)")
        let failed = try #require(try await bench.resume().failed)
        #expect(failed.failure.title == "the plugin 'demo' was ended by signal 9 in the middle of its work")
        #expect(failed.failure.body == "before the end")
        #expect(failed.kind == .answered)
    }

    @Test("A fork that keeps the pipes open neither delays the end nor survives it")
    func survivor() async throws {
        let bench = try PluginBench(
            """
            child = os.fork()
            if child == 0:
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                time.sleep(600)
                os._exit(0)
            open("child", "w").write(str(child))
            send(type="finished", captures={"id": "x"})
            """)
        #expect(try await bench.resume().captures == ["id": "x"])
        #expect(try !bench.runs("child"))
    }

    @Test("Where no descriptor is left its start is tried again, and is no mistake of the program's")
    func noDescriptors() async throws {
        let bench = try PluginBench(#"send(type="finished", captures={"id": "x"})"#)
        let stage = try #require(try await bench.plan().stages.first?.stage)
        // Each descriptor below the lowest free one is taken: nothing can be opened.
        let free = dup(STDIN_FILENO)
        close(free)
        var before = rlimit()
        #expect(getrlimit(openFileLimit, &before) == 0)
        var limit = before
        limit.rlim_cur = rlim_t(free)
        #expect(setrlimit(openFileLimit, &limit) == 0)
        let result = await stage.resume(nil, bench.host)
        #expect(setrlimit(openFileLimit, &before) == 0)
        let failed = try #require(result.failed)
        #expect(failed.kind == .silent && failed.pause > .zero, "\(failed)")
        #expect(failed.failure.title.contains("can't be started now"), "\(failed)")
        #expect(try await bench.resume().captures == ["id": "x"])
    }

    #if canImport(Glibc)
        private let openFileLimit = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
        private let openFileLimit = RLIMIT_NOFILE
    #endif

    @Test("A fork in a session of its own does not survive it either")
    func otherSession() async throws {
        let bench = try PluginBench(
            """
            child = os.fork()
            if child == 0:
                os.setsid()
                if os.fork() != 0: os._exit(0)
                open("new", "w").write(str(os.getpid()))
                os.rename("new", "child")
                time.sleep(600)
            while not os.path.exists("child"): time.sleep(0.01)
            send(type="finished", captures={"id": "x"})
            """)
        #expect(try await bench.resume().captures == ["id": "x"])
        #expect(try !bench.runs("child"))
    }

    @Test("One that hangs and ignores SIGTERM is gone after the grace")
    func deaf() async throws {
        let bench = try PluginBench(
            """
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            open("self", "w").write(str(os.getpid()))
            send(type="commit", checkpoint={"n": 1})
            time.sleep(600)
            """)
        let stopping = StoppingHost(bench.host)
        let stage = try #require(try await bench.plan().stages.first?.stage)
        let call = Task { await stage.resume(nil, stopping) }
        await stopping.committed()
        call.cancel()
        #expect(await call.value.isStopped)
        #expect(try !bench.runs("self"))
    }

    @Test("It sees no variable but the four, its run's mark and its trace, and no secret but its configuration's")
    func environment() async throws {
        let bench = try PluginBench(
            """
            seen = {"env": sorted(set(os.environ) - {"LC_CTYPE"}), "token": len(first["configuration"]["token"])}
            send(type="finished", captures={"id": json.dumps(seen)})
            """, secrets: ["TOKEN": "sesame-sesame", "OTHER": "never-told"])
        let captures = try await bench.resume(#""token": "${{ secrets.TOKEN }}""#).captures
        let seen = #"{"env": ["HOME", "PATH", "PIPELINE_PROGRAM", "TRACEPARENT"], "token": 13}"#
        #expect(captures?["id"]?.string == seen)
    }

    @Test("A secret that it puts into its checkpoint, captures or log never gets into the journal or a message")
    func secrets() async throws {
        for body in [
            #"send(type="commit", checkpoint={"t": first["configuration"]["token"]})"#,
            #"send(type="finished", captures={"id": first["configuration"]["token"]})"#,
            #"sys.stderr.write("it is " + first["configuration"]["token"]); print(first["configuration"]["token"])"#,
        ] {
            let bench = try PluginBench(body, secrets: ["TOKEN": "sesame-sesame"])
            let failed = try #require(try await bench.resume(#""token": "${{ secrets.TOKEN }}""#).failed)
            #expect(!"\(failed)".contains("sesame"))
            #expect(bench.kept == nil)
        }
    }

    @Test(
        "One that can't describe itself is a mistake in the document, at its kind",
        arguments: [
            ("while True: pass", "did not answer within 0.5 seconds"), ("sys.exit(9)", "ended with status 9"),
            ("print('x' * 200000)", "printed a line of more than 65536 bytes"), ("print('what?')", "not JSON: what?"),
            ("send(type='description', protocol=7, kind='demo')", "speaks version 7 of the plugin protocol, not 1"),
            ("send(type='description', protocol=1, kind='else')", "calls its kind 'else'"),
            ("send(type='description', protocol=1, kind='demo', schema=3)", "describes itself wrongly: 'schema'"),
        ])
    func description(body: String, message: String) async throws {
        var limits = PluginBench.quick
        limits.describing = body.hasPrefix("while") ? .milliseconds(500) : .seconds(20)
        let bench = try PluginBench("", limits: limits)
        let head = PluginBench.prelude("{}").split(separator: "\n").prefix { !$0.hasPrefix("first") }
        try bench.program("pipeline-stage-demo", head.joined(separator: "\n") + "\n" + body + "\n")
        let report = try await bench.report()
        #expect(report.contains(message), "\(report)")
        #expect(report.hasPrefix("test.json:2:"))
        #expect(report.contains("at /stages/0/kind"))
    }

    @Test("A file that is no program says so")
    func notAProgram() async throws {
        let bench = try PluginBench("")
        try bench.program("pipeline-stage-demo", "no first line\n")
        #expect(try await bench.report().contains("pipeline-stage-demo"))
        #expect(try await !bench.report().isEmpty)
    }
}
