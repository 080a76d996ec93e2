import Foundation
import JSONPath
import PipelineCore
import PipelineKit
import PipelineTestKit
import Testing

/// What people begin with: the documents that `init` writes, and what `plan` shows of them.
@Suite("Starting") struct StartingTests {
    @Test("the program carries each example as it is", arguments: ExampleTests.examples)
    func carried(file: String) async throws {
        try await inFolder { folder, program in
            let end = try await program.run(["init", String(file.dropLast(5))], folder: folder)
            #expect(end.cause == .exited(0), "\(end)")
            let source = ExampleTests.root.appendingPathComponent("Pipelines/\(file)")
            #expect(try Data(contentsOf: URL(filePath: "\(folder)/\(file)")) == Data(contentsOf: source))
        }
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

    /// The order was placed, and its response shown nowhere.
    @Test("'init --try' sends nothing where its document can't be written")
    func triedInVain() async throws {
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        try await inFolder { folder, program in
            try "{}".write(toFile: folder + "/job.json", atomically: true, encoding: .utf8)
            for (name, words) in [("job", "job.json is there already"), ("none/job", "cannot write none/job.json")] {
                let end = try await program.run(
                    ["init", name, "--try", "--from-curl", "curl -X POST \(server.url)/jobs -d '{}'"], folder: folder)
                #expect(end.cause == .exited(2) && end.errors.contains(words), "\(end)")
            }
            #expect(server.requests.isEmpty)
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

    @Test("what 'init' says to type next names the inputs that have no value, and the secrets")
    func nextCommands() async throws {
        try await inFolder { folder, program in
            let starter = try await program.run(["init"], folder: folder)
            #expect(starter.errors.contains("pipeline run pipeline.json -i source=FILE\n"), "\(starter)")
            #expect(!starter.errors.contains("secrets"))
            // Its default is a file of the folder that the example comes from.
            let selfie = try await program.run(["init", "selfie"], folder: folder)
            #expect(selfie.errors.contains("pipeline run selfie.json -i video=FILE\n"), "\(selfie)")
            let batch = try await program.run(["init", "openai-batch"], folder: folder)
            #expect(batch.errors.contains("PIPELINE_SECRET_OPENAI_API_KEY\n"), "\(batch)")
            let line = try #require(batch.errors.firstMatch(of: /pipeline (plan .*)/)).output.1
            let video = ExampleTests.root.path + "/Fixtures/selfie.y4m"
            let arguments = line.replacing("FILE", with: video).split(separator: " ").map(String.init)
            let plan = try await program.run(arguments, folder: folder)
            #expect(plan.cause == .exited(0) && arguments.contains("-i"), "\(plan)")
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
            #expect(batch["once"]?.string?.contains("item.metadata.pipeline == self.key") == true)
            #expect(stages.first?["requests"]?.array?.first?["body"]?["file"] == "‹file ‹inputs.requests››")
            #expect(!end.output.contains("sk-very-secret"))
            let people = try await program.run(["plan", path], environment: environment, folder: folder)
            #expect(people.output.contains("if the answer is lost: looked for in GET"))
            #expect(!people.output.contains("sk-very-secret"))
            #expect(server.requests.isEmpty)
        }
    }

    @Test("a plan says until when captures are good, and for whom they are made anew")
    func planExpiries() async throws {
        try await inFolder { folder, program in
            let path = folder + "/link.json"
            let document = #"""
                { "pipeline": 1, "name": "link", "stages": [
                  { "id": "order", "kind": "request", "request": { "GET": "http://127.0.0.1:1/x" },
                    "capture": { "url": "$.url", "end": "$.end" }, "expires": { "in": "15m" } },
                  { "id": "other", "kind": "request", "request": { "GET": "http://127.0.0.1:1/y" },
                    "capture": { "end": "$.end" }, "expires": { "at": "${{ self.end }}" } },
                  { "id": "get", "kind": "download", "request": { "GET": "${{ stages.order.url }}" }, "to": "x",
                    "renew": "order" } ] }
                """#
            try document.write(toFile: path, atomically: true, encoding: .utf8)
            let end = try await program.run(["plan", path, "--json"], folder: folder)
            #expect(end.cause == .exited(0), "\(end)")
            let expiries = try JSON.parse(Array(end.output.utf8))["stages"]?.array?.map { $0["expires"]?.string }
            #expect(
                expiries == ["15m after its end; then it is run again for 'get'", "at ‹self.end›", nil], "\(end)")
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
