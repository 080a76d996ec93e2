import Foundation
import JSONPath
import PipelineCore
import PipelineTestKit
import Testing

@testable import PipelineCommands

/// Every example is killed at each crash point and resumed, by `pipeline test --crash`, against what its service answered.
@Suite("Examples survive a kill") struct ExampleCrashTests {
    private static let folder = ExampleTests.root.appendingPathComponent("Fixtures/Exchanges")
    /// Those that ``TestCommandTests`` records in real time are killed there.
    static let names = ExchangeTests.names.filter { !TestCommandTests.names.contains($0) }

    @Test("at each crash point, with the same requests and the same files", .timeLimit(.minutes(2)), arguments: names)
    func killed(name: String) async throws {
        let service = try FixtureService()
        defer { service.stop() }
        let fixture = try ExchangeFixture(name: name, server: service.url, in: Self.folder)
        service.play(fixture)
        let bench = try ExchangeBench(fixture)
        defer { bench.remove() }
        let outcome = try await bench.run(ExampleTests.root.path + "/Pipelines")
        try #require(outcome.end == .ended(fixture.end), "\(outcome.failure ?? "")")
        let document = (name.split(separator: "~").first.map(String.init) ?? name) + ".json"
        try FileManager.default.copyItem(
            atPath: ExampleTests.root.path + "/Pipelines/\(document)", toPath: "\(bench.folder)/\(document)")
        try archive(of: outcome, fixture, document, in: bench.folder)
        var environment = BuiltProgram.environment(home: bench.folder)
        for (name, value) in fixture.secrets { environment["PIPELINE_SECRET_" + name] = value }
        let end = try await BuiltProgram(named: "pipeline").run(
            ["test", document, "--crash"], environment: environment, folder: bench.folder, limit: .seconds(110))
        #expect(end.cause == .exited(0), "\(end)")
        #expect(end.output.contains("and resumed"), "\(end)")
    }

    /// The recording that `pipeline test --record` would have made.
    private func archive(
        of outcome: ExchangeBench.Outcome, _ fixture: ExchangeFixture, _ document: String, in folder: String
    ) throws {
        var log = HTTPArchive(records: outcome.exchanges).json["log"]?.object ?? [:]
        let calls = fixture.callbacks.map { call -> JSON in
            [
                "_callback": .string(call.name),
                "request": [
                    "method": "POST", "url": "https://callback.test/", "headers": [],
                    "postData": ["text": .string(call.value.text)],
                ],
            ]
        }
        log["entries"] = .array((log["entries"]?.array ?? []) + calls)
        let inputs = fixture.inputs.map { input -> (String, JSON) in
            let isFile = input.value.string.map { fixture.files[$0] != nil } == true
            return (input.name, isFile ? .string("in/\(input.value.string ?? "")") : input.value)
        }
        log["_pipeline"] = [
            "inputs": .object(JSONObject(inputs)),
            "environment": .object(JSONObject(fixture.environment.map { ($0.key, .string($0.value)) })),
            "job": "example", "key": "example", "end": .string(fixture.end.rawValue),
        ]
        try FileManager.default.createDirectory(atPath: folder + "/exchanges", withIntermediateDirectories: true)
        try JSON.object(["log": .object(log)]).text.write(
            toFile: "\(folder)/exchanges/\(document.dropLast(5)).har", atomically: true, encoding: .utf8)
    }
}
