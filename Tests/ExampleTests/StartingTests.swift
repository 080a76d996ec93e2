import Foundation
import JSONPath
import PipelineCore
import PipelineKit
import PipelineTestKit
import Testing

/// What people begin with: the documents that `init` writes, and what `plan` shows of them.
@Suite("Starting") struct StartingTests {
    private static let shipped = ExampleTests.root
        .appendingPathComponent("Sources/PipelineCommands/Starting/ShippedExamples.swift")

    @Test("the program carries the examples as they are; RECORD=1 writes them anew")
    func carried() throws {
        let source = try Self.source()
        if ProcessInfo.processInfo.environment["RECORD"] == "1" {
            try source.write(to: Self.shipped, atomically: true, encoding: .utf8)
        }
        #expect(try String(contentsOf: Self.shipped, encoding: .utf8) == source)
    }

    /// The Swift file that holds the examples.
    private static func source() throws -> String {
        var text = """
            // Written by `RECORD=1 swift test --filter StartingTests` from the folder Pipelines; not edited by hand.

            /// The examples that the program carries, by name.
            enum ShippedExamples {
                static let names = all.map(\\.name)

                static func text(of name: String) -> String? { all.first { $0.name == name }?.text }

                private static let all: [(name: String, text: String)] = [

            """
        for name in ExampleTests.examples {
            let content = try String(
                contentsOf: ExampleTests.root.appendingPathComponent("Pipelines/\(name)"), encoding: .utf8)
            text += "        (\n            \"\(name.dropLast(5))\",\n            ##\"\"\"\n"
            for line in content.split(separator: "\n", omittingEmptySubsequences: false) {
                text += line.isEmpty ? "\n" : "            \(line)\n"
            }
            text += "            \"\"\"##\n        ),\n"
        }
        return text + "    ]\n}\n"
    }

    private func inFolder(_ work: (String, BuiltProgram) async throws -> Void) async throws {
        let folder = NSTemporaryDirectory() + "pipeline-starting-\(UUID().uuidString)/my work"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await work(folder, try BuiltProgram(named: "pipeline"))
    }

    @Test("'init' writes a document that is valid, named after its folder, and never replaces one")
    func starter() async throws {
        try await inFolder { folder, program in
            let first = try await program.run(["init"], folder: folder)
            #expect(first.cause == .exited(0), "\(first)")
            #expect(first.output.hasSuffix("/my work/pipeline.json\n"))
            let text = try String(contentsOfFile: folder + "/pipeline.json", encoding: .utf8)
            #expect(text.contains("\"name\": \"my-work\"") && text.contains("// "))
            let valid = try await program.run(["validate", "pipeline.json"], folder: folder)
            #expect(valid.cause == .exited(0), "\(valid)")
            let second = try await program.run(["init"], folder: folder)
            #expect(second.cause == .exited(2))
            #expect(second.errors.contains("pipeline.json is there already"))
        }
    }

    @Test("'init NAME' writes an example, and knows what was meant")
    func example() async throws {
        try await inFolder { folder, program in
            let written = try await program.run(["init", "slurm"], folder: folder)
            #expect(written.cause == .exited(0), "\(written)")
            #expect(
                try String(contentsOfFile: folder + "/slurm.json", encoding: .utf8)
                    == String(
                        contentsOf: ExampleTests.root.appendingPathComponent("Pipelines/slurm.json"), encoding: .utf8))
            let unknown = try await program.run(["init", "openai-bach"], folder: folder)
            #expect(unknown.cause == .exited(64))
            #expect(unknown.errors.contains("did you mean 'openai-batch'?"), "\(unknown)")
        }
    }

    @Test("the starter does its work against the demonstration service")
    func starterRuns() async throws {
        try await inFolder { folder, program in
            _ = try await program.run(["init"], folder: folder)
            let bench = try ExampleBench()
            defer { bench.remove() }
            try FileManager.default.copyItem(atPath: folder + "/pipeline.json", toPath: bench.folder + "/pipeline.json")
            let files = try await bench.run(
                "pipeline.json", inputs: [("source", ExampleTests.root.path + "/Fixtures/selfie.y4m")],
                variable: "API_URL")
            #expect(files == [bench.folder + "/selfie.obj"])
        }
    }

    @Test("a plan shows requests with secrets and later values by name, and settlements; nothing is sent")
    func plan() async throws {
        try await inFolder { folder, program in
            let path = ExampleTests.root.path + "/Pipelines/openai-batch.json"
            let server = try LoopbackServer { _ in .json("{}") }
            defer { server.stop() }
            let environment = ["OPENAI_URL": server.url, "PIPELINE_SECRET_OPENAI_API_KEY": "sk-very-secret"]
            let end = try await program.run(["plan", path, "--json"], environment: environment, folder: folder)
            #expect(end.cause == .exited(0), "\(end)")
            let plan = try JSON.parse(Array(end.output.utf8))
            let stages = plan["stages"]?.array ?? []
            #expect(plan["digest"]?.string?.count == 64)
            #expect(stages.compactMap { $0["id"]?.string } == ["whole", "parts", "batch", "results", "errors"])
            let batch = try #require(stages.first { $0["id"]?.string == "batch" })
            let submit = try #require(batch["requests"]?.array?.first)
            #expect(submit["for"] == "submit")
            #expect(submit["url"]?.string == "\(server.url)/v1/batches")
            #expect(submit["headers"]?["Authorization"] == "Bearer ‹secret:OPENAI_API_KEY›")
            #expect(submit["body"]?["input_file_id"] == "‹stages.whole.id›")
            #expect(batch["requests"]?.array?.compactMap { $0["for"]?.string } == ["submit", "poll", "cancel"])
            #expect(batch["once"]?.string?.contains("item.metadata.pipeline == job.key") == true)
            #expect(stages.first?["requests"]?.array?.first?["body"]?["file"] == "‹file ‹inputs.requests››")
            #expect(!end.output.contains("sk-very-secret"))
            let people = try await program.run(["plan", path], environment: environment, folder: folder)
            #expect(people.output.contains("if the answer is lost: looked for in GET"))
            #expect(!people.output.contains("sk-very-secret"))
            #expect(server.requests.isEmpty)
        }
    }

    @Test("every example can be planned without its inputs", arguments: ExampleTests.examples)
    func plans(name: String) async throws {
        let path = "\(ExampleTests.root.path)/Pipelines/\(name)"
        let workspace = ExampleBench.workspace(environment: [:], state: "/nonexistent")
        let draft = try JobDraft(
            path: path, catalogue: workspace.catalogue, given: GivenInputs(), environment: [:], standardInput: { nil },
            allowsMissingInputs: true)
        let preview = await PlanPreview(draft)
        for stage in preview.stages where !["write", "wait"].contains(stage.planned.kind) {
            #expect(!stage.preview.requests.isEmpty, "\(stage.planned.id)")
            for request in stage.preview.requests {
                #expect(request.url.hasPrefix("http") || request.url.hasPrefix("‹"), "\(request.url)")
            }
        }
    }
}
