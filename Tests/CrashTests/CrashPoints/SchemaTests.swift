import Foundation
import JSONPath
import PipelineCore
import PipelineTestKit
import SelfieStudio
import Testing

@Suite("JSON output keeps to its schemas")
struct OutputSchemaTests {
    private static let root = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")

    /// The schema with what its references name put in.
    static func schema(_ name: String) throws -> JSONSchema {
        let text = try String(contentsOfFile: "\(root)/Sources/pipeline/Schemas/\(name).schema.json", encoding: .utf8)
        let whole = try JSON.parse(text)
        let schema = JSONSchema(inlined(whole, whole))
        try #require(schema.problems.isEmpty)
        return schema
    }

    private static func inlined(_ schema: JSON, _ root: JSON) -> JSON {
        switch schema {
        case .array(let elements): return .array(elements.map { inlined($0, root) })
        case .object(let members):
            if let name = members["$ref"]?.string?.split(separator: "/").last, let target = root["$defs"]?[String(name)]
            {
                return inlined(target, root)
            }
            return .object(JSONObject(members.map { ($0.name, inlined($0.value, root)) }))
        default: return schema
        }
    }

    static func check(_ value: JSON, _ schema: JSONSchema) {
        let mistakes = schema.mistakes(in: value).map { "\($0.pointer): \($0.message)" }
        #expect(mistakes.isEmpty, "\(mistakes) in \(value.text)")
    }

    @Test("events, show and list of a job that succeeds, one that fails and one that is unknown")
    func outputs() async throws {
        let (event, job) = (try Self.schema("event"), try Self.schema("show"))
        try await withWorkplace { workplace in
            try await withService(in: workplace, { $0.minimumSeconds = 0.3 }) { service in
                let good = try await workplace.runSelfie(service, "--json")
                #expect(good.cause == .exited(0), "\(good)")
                for line in good.lines { check(try JSON.parse(line), event) }
                check(try await workplace.show(), job)
            }
            try await withService(in: workplace, { $0.failsModels = true }) { service in
                let bad = try await workplace.runSelfie(service, "--json", "--overwrite")
                #expect(bad.cause == .exited(1), "\(bad)")
                for line in bad.lines { check(try JSON.parse(line), event) }
                check(try await workplace.show(), job)
            }
            try await withService(in: workplace, { $0.lostAnswers = 1 }) { service in
                let lost = try await workplace.runSelfie(
                    service, document: Documents.selfieWithoutOnce(), "--json", "--overwrite")
                #expect(lost.cause == .exited(3), "\(lost)")
                for line in lost.lines { check(try JSON.parse(line), event) }
                check(try await workplace.show(), job)
            }
            let list = try JSON.parse(try await workplace.run("list", "--json").output)
            #expect(list.array?.count == 3)
            for entry in list.array ?? [] {
                check(entry, job)
                #expect(entry["stages"] == nil)
            }
            try await jq(workplace)
        }
    }

    @Test("the mistakes of documents, and plans with and without a forecast")
    func documents() async throws {
        let (validate, plan) = (try Self.schema("validate"), try Self.schema("plan"))
        try await withWorkplace { workplace in
            try workplace.write(
                "bad.json", #"{ "pipeline": 1, "name": "A", "stages": [ { "id": "a", "kind": "wiat" } ] }"#)
            let wrong = try await workplace.run("validate", "bad.json", Documents.selfie, "nowhere.json", "--json")
            let results = try JSON.parse(wrong.output)
            check(results, validate)
            #expect(results.array?.map { $0["valid"] } == [false, true, false], "\(wrong)")
            for arguments in [["--json"], ["--json", "--background"]] {
                let end = try await workplace.program.run(
                    ["plan", Documents.selfie, "-i", "video=\(Documents.video)"] + arguments,
                    environment: workplace.environment(), folder: workplace.folder)
                #expect(end.cause == .exited(0), "\(end)")
                check(try JSON.parse(end.output), plan)
            }
        }
    }

    @Test("what budget, why, stats, config and plugins print, of a machine with jobs in the background")
    func machine() async throws {
        let names = ["budget", "why", "stats", "config", "plugins"]
        let schemas = Dictionary(uniqueKeysWithValues: try names.map { ($0, try Self.schema($0)) })
        try await withWorkplace { workplace in
            for name in ["budget", "stats", "config", "plugins"] {
                let end = try await workplace.run(name, "--json")
                #expect(end.cause == .exited(0), "\(end)")
                check(try JSON.parse(end.output), try #require(schemas[name]))
            }
            try FileManager.default.createDirectory(
                atPath: workplace.path("plugins"), withIntermediateDirectories: true)
            let plugin = try workplace.write("plugins/pipeline-stage-broken", "#!/bin/sh\nexit 3\n")
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: plugin)
            try workplace.write(
                "later.json",
                #"""
                { "pipeline": 1, "name": "later", "background": { "discretionary": true, "budget": "ios" },
                  "notify": [ { "on": ["started"], "command": ["/bin/false"] } ],
                  "stages": [
                    { "id": "first", "kind": "write", "to": "a.txt", "text": "a", "discretionary": false },
                    { "id": "short", "kind": "wait", "for": "50ms", "discretionary": false },
                    { "id": "long", "kind": "wait", "for": "1h", "discretionary": false } ] }
                """#)
            let job = try workplace.start("run", "later.json", "--background", "--json")
            #expect(await job.hasWritten("resume.deferred"))
            for arguments in [["why"], ["budget"], ["plugins", "--plugins", "plugins"]] {
                let end = try await workplace.program.run(
                    arguments + ["--json"], environment: workplace.environment(), folder: workplace.folder)
                #expect(end.cause == .exited(0), "\(end)")
                check(try JSON.parse(end.output), try #require(schemas[arguments[0]]))
            }
            job.signal(SIGTERM)
            _ = await job.end
            check(try JSON.parse(try await workplace.run("why", "--json").output), try #require(schemas["why"]))
            check(try JSON.parse(try await workplace.run("stats", "--json").output), try #require(schemas["stats"]))
        }
    }

    private func check(_ value: JSON, _ schema: JSONSchema) { Self.check(value, schema) }

    /// The page's commands, run as they stand there.
    private func jq(_ workplace: Workplace) async throws {
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/jq") else { try Test.cancel("needs jq") }
        let page = try String(
            contentsOfFile: Self.root + "/Sources/PipelineKit/PipelineKit.docc/JSONOutput.md", encoding: .utf8)
        let commands = page.components(separatedBy: "```sh\n").dropFirst().compactMap {
            $0.components(separatedBy: "```").first
        }
        #expect(commands.count == 11)
        // What the examples of documents look at.
        try workplace.write(
            "selfie.json", try Documents.selfie(replacing: [("../Fixtures/selfie.y4m", Documents.video)]))
        let folder = workplace.program.path.split(separator: "/").dropLast().joined(separator: "/")
        for command in commands {
            let end = try await BuiltProgram(path: "/bin/bash").run(
                ["-o", "pipefail", "-c", command],
                environment: workplace.environment(["PATH": "/\(folder):/usr/bin:/bin"]), folder: workplace.folder)
            #expect(end.cause == .exited(0) && end.errors.isEmpty, "\(command)\(end)")
        }
    }
}
