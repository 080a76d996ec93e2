import JSONPath
import PipelineCore
import PipelineStages
import PipelineTestKit
import Testing

@Suite("Notification sinks that are programs", .serialized, .timeLimit(.minutes(3)))
struct ProgramSinkTests {
    private static let notification = JobNotification(
        id: "n1", event: .failed, job: JobID(at: Timestamp(milliseconds: 0), random: (1, 2)), pipeline: "test",
        time: Timestamp(milliseconds: 60000), title: "test failed", data: ["code": 7])

    private func plan(_ bench: PluginBench, _ members: String) async throws -> Plan {
        let source = SourceText(
            name: "test.json",
            text: """
                { "pipeline": 1, "name": "test", "notify": [ { "on": ["failed"], \(members) } ],
                  "stages": [ { "id": "a", "kind": "wait", "for": "1s" } ] }
                """)
        var catalogue = Catalogue(
            kinds: StandardStages.kinds(network: ScriptedService().network, decorators: .standard)
        ) { _, _ in }
        for sink in await bench.plugins.plugins(namedIn: source).sinks { catalogue.register(sink) }
        return try Planner(catalogue: catalogue).plan(source)
    }

    private func deliver(
        _ body: String, limits: PluginLimits = PluginBench.quick
    ) async throws -> (bench: PluginBench, failure: NotificationFailure?) {
        let bench = try PluginBench("", limits: limits)
        try bench.program("pipeline-sink-chat", PluginBench.prelude(#"{"kind": "chat"}"#) + body)
        let plan = try await plan(
            bench,
            #""chat": { "room": "${{ 'a' + 'b' }}", "token": "${{ secrets.T }}", "#
                + #""log": "\#(bench.folder.path)/log" }"#)
        guard case .other(let template) = try #require(plan.definition.notifications.first).sink else {
            Issue.record("it is another sink")
            return (bench, nil)
        }
        #expect(plan.secrets == ["T"])
        let sink = try template.resolve(Scope(secrets: ["T": "sesame-sesame"]))
        do throws(NotificationFailure) {
            try await sink.deliver(Self.notification)
            return (bench, nil)
        } catch {
            return (bench, error)
        }
    }

    @Test("It gets the notification and its configuration, and says when it is delivered")
    func delivers() async throws {
        let (bench, failure) = try await deliver(
            """
            open(first["configuration"]["log"], "w").write(json.dumps([first["notification"], first["configuration"]["room"]]))
            send(type="delivered")
            """)
        #expect(failure == nil)
        let seen = try JSON.parse(try #require(bench.folder.read("log")))
        #expect(seen.array?.first == Self.notification.json)
        #expect(seen.array?.last == "ab")
    }

    @Test(
        "A failure is told in words, without secrets",
        arguments: [
            ("sys.exit(3)", "the sink 'chat' ended with status 3 in the middle of its work", false),
            ("os.kill(os.getpid(), 9)", "the sink 'chat' was ended by signal 9", true),
            ("send(type='delivered?')", "printed a message of the unknown type 'delivered?'", false),
            ("send(type='finished')", "sent 'finished' at a moment when it means nothing", false),
            ("send(type='failed', message='the room is full', retryable=True)", "the room is full", true),
            ("send(type='failed', message=first['configuration']['token'])", "the sink 'chat': ‹secret:", false),
            ("sys.stderr.write('x' * 2000000); time.sleep(600)", "bytes to standard error", false),
            ("time.sleep(600)", "did not answer within 0.5 seconds", false),
        ])
    func failures(body: String, message: String, isRetryable: Bool) async throws {
        var limits = PluginBench.quick
        if body.hasPrefix("time") { limits.answering = .milliseconds(500) }
        let failure = try #require(try await deliver(body, limits: limits).failure)
        #expect(failure.message.contains(message), "\(failure.message)")
        #expect(!failure.message.contains("sesame"))
        #expect(failure.isRetryable == isRetryable)
    }

    @Test("A name that nothing has is a mistake with the sinks that there are")
    func unknown() async throws {
        let bench = try PluginBench("")
        try bench.program("pipeline-sink-chat", PluginBench.prelude(#"{"kind": "chat"}"#))
        do {
            _ = try await plan(bench, #""chap": { "of": "\"chat\"" }, "x-names": "chat""#)
            Issue.record("it was taken")
        } catch let error as DefinitionError {
            #expect(error.report.contains("did you mean"), "\(error.report)")
        }
    }

    @Test("It is part of the schema")
    func schema() async throws {
        let bench = try PluginBench("")
        try bench.program(
            "pipeline-sink-chat", PluginBench.prelude(#"{"kind": "chat", "summary": "Says it in a chat."}"#))
        var catalogue = Catalogue(kinds: []) { _, _ in }
        for sink in await bench.plugins.plugins().sinks { catalogue.register(sink) }
        let schema = PipelineSchema(catalogue: catalogue).json
        #expect(schema["$defs"]?["notification"]?["properties"]?["chat"]?["description"] == "Says it in a chat.")
    }
}
