import Foundation
import JSONPath
import PipelineCore
import PipelineKit
import PipelineTestKit
import Testing

/// The references are what the program's own tables say; `RECORD=1` writes them again.
@Suite("Reference pages") struct ReferencePageTests {
    private static let folder = ExampleTests.root.path + "/Sources/PipelineKit/PipelineKit.docc"

    private func check(_ page: String, _ name: String) throws {
        let path = "\(Self.folder)/\(name).md"
        if ProcessInfo.processInfo.environment["RECORD"] == "1" {
            try page.write(toFile: path, atomically: true, encoding: .utf8)
        }
        let kept = try String(contentsOfFile: path, encoding: .utf8)
        #expect(kept == page, "\(name).md is not up to date: make references")
    }

    @Test("the reference of the format is what the tables of fields say")
    func format() throws {
        let workspace = ExampleBench.workspace(environment: [:], state: "/nonexistent")
        try check(FormatReference.page(of: PipelineSchema(catalogue: workspace.catalogue).json), "FormatReference")
    }

    @Test("the reference of the commands is what their help says")
    func commands() async throws {
        let help = try await BuiltProgram(named: "pipeline").run(["--experimental-dump-help"])
        let page = try CommandReference.page(of: JSON.parse(help.output))
        try check(page, "CommandReference")
        // A group of commands without flags of its own once left none that all have.
        #expect(page.components(separatedBy: "`--state-dir DIR`").count == 2)
    }

    @Test("the page of examples is what the examples are")
    func examples() throws {
        let documents = try ExampleTests.examples.map { file in
            let path = "\(ExampleTests.root.path)/Pipelines/\(file)"
            return (String(file.dropLast(5)), try JSONNode.parse(JobDraft.source(at: path)).json)
        }
        try check(ExampleIndex.page(of: documents), "Examples")
    }
}
