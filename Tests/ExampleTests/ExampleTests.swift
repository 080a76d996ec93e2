import Foundation
import JSONPath
import PipelineCore
import PipelineEngine
import PipelineKit
import PipelineTestKit
import SelfieStudio
import Testing

/// What people start from works: the examples, the schema beside them, and the README's pipeline.
@Suite("Examples") struct ExampleTests {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static let examples =
        (try? FileManager.default.contentsOfDirectory(atPath: root.path + "/Pipelines"))?
        .filter { $0.hasSuffix(".json") && !$0.hasSuffix(".schema.json") }.sorted() ?? []

    @Test("every example is valid", arguments: examples)
    func isValid(name: String) throws {
        let source = try JobDraft.source(at: "\(Self.root.path)/Pipelines/\(name)")
        let plan = try Planner(catalogue: ExampleBench.workspace(environment: [:], state: "/nonexistent").catalogue)
            .plan(source)
        #expect(!plan.stages.isEmpty)
    }

    @Test("the schema beside the examples is the one that the program prints")
    func schemaIsFresh() throws {
        let workspace = ExampleBench.workspace(environment: [:], state: "/nonexistent")
        let printed = PipelineSchema(catalogue: workspace.catalogue).json.prettyText()
        let kept = try String(
            contentsOf: Self.root.appendingPathComponent("Pipelines/pipeline.schema.json"), encoding: .utf8)
        #expect(
            kept.trimmingCharacters(in: .whitespacesAndNewlines) == printed,
            "run: pipeline schema > Pipelines/pipeline.schema.json")
    }

    @Test("the README and the pages name no command that the program has not")
    func commandsAreNamed() async throws {
        let help = try await BuiltProgram(named: "pipeline").run(["--help"])
        // Commands stand in groups, each under a heading of its own.
        let groups = help.output.components(separatedBy: "SUBCOMMANDS:").dropFirst()
        let lines = groups.flatMap { $0.components(separatedBy: "\n") }
        let commands = lines.filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") && !$0.contains("See ") }
            .flatMap { line in
                // A command stands with its aliases, `list, ls`, before what it does.
                line.split(separator: "  ")[0].split { ", ".contains($0) }.map(String.init)
            }
        #expect(commands.count > 10)
        let folder = Self.root.path + "/Sources/PipelineKit/PipelineKit.docc"
        let pages = try FileManager.default.contentsOfDirectory(atPath: folder).map { "\(folder)/\($0)" }
        for path in pages + [Self.root.path + "/README.md"] {
            let page = try String(contentsOfFile: path, encoding: .utf8)
            for match in page.matches(of: /(?:`|\$ )pipeline ([a-z]+)/) {
                #expect((commands + ["help"]).contains(String(match.output.1)), "\(path): \(match.output.0)")
            }
        }
    }
}

/// A folder, a studio and an engine for one example.
struct ExampleBench {
    let folder: String

    init() throws {
        folder = NSTemporaryDirectory() + "pipeline-example-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    func remove() { try? FileManager.default.removeItem(atPath: folder) }

    static func workspace(environment: [String: String], state: String) -> Workspace {
        Workspace(settings: Settings(stateFolder: state, secretsFile: nil, environment: environment))
    }

    /// Runs a document of the folder against a studio of its own; the paths of the files it wrote.
    func run(
        _ name: String, inputs: [(name: String, value: String)], variable: String = "SELFIE_URL"
    ) async throws -> [String] {
        try await StudioServer.run(StudioSettings(dataFolder: folder + "/studio")) { server in
            let environment = [variable: server.url]
            let workspace = Self.workspace(environment: environment, state: folder + "/state")
            let draft = try JobDraft(
                path: "\(folder)/\(name)", catalogue: workspace.catalogue, given: GivenInputs(assignments: inputs),
                environment: environment, standardInput: { nil })
            let journal = try workspace.openJournal()
            let engine = try workspace.engine(journal: journal, secrets: try workspace.secrets()) { _ in }
            let record = draft.record(
                id: workspace.newJobID(), key: nil, started: SystemClock().now, outputFolder: folder, overwrites: false)
            let drive = try await engine.start(record, plan: draft.plan, mode: .attached)
            #expect(try await drive.run() == .ended(.succeeded))
            return try await journal.snapshot(of: record.id)?.files.map(\.path) ?? []
        }
    }
}
