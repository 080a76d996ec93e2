import JSONPath
import PipelineCore
import PipelineStages
import PipelineTestKit
import Testing

/// The page and the schema of the protocol say what is really sent: every line of real conversations, and every line of
/// the page, is checked against the schema.
@Suite("The plugin protocol is what its page says", .serialized, .timeLimit(.minutes(3)))
struct PluginProtocolTests {
    private static let root = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
    private static let schemaPath = root + "/Sources/pipeline/Plugins/plugin-protocol.schema.json"
    private static let pagePath = root + "/Sources/PipelineKit/PipelineKit.docc/PluginProtocol.md"

    @Test("Every message of real conversations matches the schema of its type, and every type occurs")
    func conversations() async throws {
        var seen: Set<String> = []
        for line in try await Self.transcript() { try Self.check(line, &seen) }
        let types = try #require(try Self.schema()["$defs"]?.object).map(\.name)
        #expect(seen == Set(types).subtracting(["work", "headers"]))
    }

    @Test("Every line of the page matches, every type is on it, and its schema is the one that is installed")
    func page() throws {
        let page = try #require(try Self.text(Self.pagePath))
        let blocks = page.components(after: "```json\n", upTo: "```")
        var seen: Set<String> = []
        for line in blocks.flatMap({ $0.split(separator: "\n") }) { try Self.check(String(line), &seen) }
        let types = try #require(try Self.schema()["$defs"]?.object).map(\.name)
        #expect(seen == Set(types).subtracting(["work", "headers"]))
        #expect(
            try page.components(after: "```json-schema\n", upTo: "```") == [#require(try Self.text(Self.schemaPath))])
    }

    @Test("The page's program passes the conformance run, waits and finishes")
    func pageProgram() async throws {
        let page = try #require(try Self.text(Self.pagePath))
        let bench = try PluginBench("")
        try bench.program("pipeline-stage-pause", try #require(page.components(after: "```sh\n", upTo: "```").first))
        let path = "\(bench.folder.path)/pipeline-stage-pause"
        let settings = PluginSettings(environment: [:], limits: PluginBench.quick)
        for finding in await PluginConformance(path: path, settings: settings).run() {
            #expect(finding.problem == nil, "\(finding.check)")
        }
        guard case .success(.waiting(_, let wake, _)) = try await bench.resume(kind: "pause") else {
            Issue.record("it does not wait")
            return
        }
        #expect(wake.time == bench.host.now + .seconds(60))
        #expect(try await bench.resume(kind: "pause").captures == [:])
    }

    // MARK: The schema

    private static func schema() throws -> JSON { try JSON.parse(#require(try text(schemaPath))) }

    /// Checks a line against the schema of its type; what has none fails.
    private static func check(_ line: String, _ seen: inout Set<String>) throws {
        let message = try JSON.parse(line)
        var type = try #require(message["type"]?.string, "\(line)")
        if type == "submitted", message["key"] != nil { type = "submittedBefore" }
        let whole = try schema()
        let definition = try #require(whole["$defs"]?[type], "there is no schema of '\(type)'")
        seen.insert(type)
        let rule = JSONSchema(inlined(definition, whole))
        #expect(rule.problems.isEmpty, "\(rule.problems)")
        let mistakes = rule.mistakes(in: message).map { "\($0.pointer): \($0.message)" }
        #expect(mistakes.isEmpty, "\(mistakes) in \(line)")
    }

    /// The schema with what its references name put in.
    private static func inlined(_ schema: JSON, _ root: JSON) -> JSON {
        switch schema {
        case .array(let elements): return .array(elements.map { inlined($0, root) })
        case .object(var members):
            let target = members["$ref"]?.string?.split(separator: "/").last.flatMap { root["$defs"]?[String($0)] }
            members["$ref"] = nil
            let rest = JSON.object(JSONObject(members.map { ($0.name, inlined($0.value, root)) }))
            return target.map { ["allOf": [inlined($0, root), rest]] } ?? rest
        default: return schema
        }
    }

    private static func text(_ path: String) throws -> String? { TemporaryFolder.text(of: path) }

    // MARK: Conversations

    /// All lines of conversations in which each message is used, in both directions.
    private static func transcript() async throws -> [String] {
        let bench = try PluginBench("")
        let log = "\(bench.folder.path)/transcript"
        for (name, body) in [("stage", stage), ("decorator", decorator), ("sink", sink)] {
            let text = PluginBench.prelude("{}").replacing(
                "def receive():\n    return json.loads(sys.stdin.readline())",
                with: """
                    def receive():
                        line = sys.stdin.readline()
                        open("\(log)", "a").write(line)
                        return json.loads(line)
                    plain = send
                    def send(**message):
                        open("\(log)", "a").write(json.dumps(message) + "\\n")
                        plain(**message)
                    """)
            try bench.program("pipeline-\(name)-demo", text + body)
        }
        for mode in ["commit", "wait", "until", "fail", "submit", "submit", "unknown"] {
            try await bench.resume(#""mode": "\#(mode)""#)
        }
        _ = try await bench.cancel(#""mode": "commit""#)
        try await decorate(in: bench)
        try await notify(in: bench)
        return (bench.folder.read("transcript") ?? "").split(separator: "\n").map(String.init)
    }

    private static let stage = """
        if first["type"] == "cancel":
            send(type="cancelled"); sys.exit(0)
        mode = first["configuration"]["mode"]
        send(type="progress", done=1, total=2, remaining=3)
        if mode == "commit":
            send(type="commit", checkpoint={"a": 1}); receive(); send(type="finished", captures={"id": "x"})
        elif mode == "wait": send(type="waiting", checkpoint={"a": 1}, **{"for": "5s"})
        elif mode == "until": send(type="waiting", checkpoint={"a": 1}, until="2030-01-01T00:00:00Z")
        elif mode == "unknown": send(type="unknown", checkpoint={"a": 1}, reason="lost")
        elif mode == "fail": send(type="failed", message="no", hint="yes", retryable=True)
        elif mode == "submit":
            send(type="intent")
            if receive()["type"] == "submit": send(type="submitted", captures={"id": "x"})
            send(type="finished")
        """
    private static let decorator = #"send(type="decorated", request={"headers": [{"name": "X", "value": "y"}]})"#
    private static let sink = #"send(type="delivered")"#

    private static func decorate(in bench: PluginBench) async throws {
        let kinds = await bench.plugins.plugins().decorators
        var decorators = DecoratorCatalogue.standard
        for kind in kinds { decorators.register(kind) }
        let catalogue = Catalogue(
            kinds: StandardStages.kinds(network: ScriptedService().network, decorators: decorators)
        ) { _, _ in }
        let text = """
            { "pipeline": 1, "name": "t", "stages": [ { "id": "a", "kind": "request",
              "request": { "POST": "http://api.test/", "text": "x", "with": [ { "demo": {} } ] } } ] }
            """
        let plan = try Planner(catalogue: catalogue).plan(SourceText(name: "t.json", text: text))
        _ = await plan.stages[0].stage.resume(nil, MemoryStageHost(stage: "a", retry: RetryPolicy()))
    }

    private static func notify(in bench: PluginBench) async throws {
        var catalogue = Catalogue(
            kinds: StandardStages.kinds(network: ScriptedService().network, decorators: .standard)
        ) { _, _ in }
        for sink in await bench.plugins.plugins().sinks { catalogue.register(sink) }
        let text = """
            { "pipeline": 1, "name": "t", "notify": [ { "on": ["late"], "demo": {} } ],
              "stages": [ { "id": "a", "kind": "wait", "for": "1s" } ] }
            """
        let plan = try Planner(catalogue: catalogue).plan(SourceText(name: "t.json", text: text))
        guard case .other(let template) = plan.definition.notifications[0].sink else {
            Issue.record("the sink of a plugin was read as \(plan.definition.notifications[0].sink)")
            return
        }
        try await template.resolve(Scope()).deliver(
            JobNotification(
                id: "1", event: .late, job: JobID(at: Timestamp(milliseconds: 0), random: (1, 2)), pipeline: "t",
                time: Timestamp(milliseconds: 0), title: "late"))
    }
}

extension String {
    /// Each stretch between two marks.
    fileprivate func components(after start: String, upTo end: String) -> [String] {
        var found: [String] = []
        var rest = self[...]
        while let opening = rest.firstRange(of: start) {
            rest = rest[opening.upperBound...]
            guard let closing = rest.firstRange(of: end) else { break }
            found.append(String(rest[..<closing.lowerBound]))
            rest = rest[closing.upperBound...]
        }
        return found
    }
}
