import Foundation
import JSONPath
import PipelineCore
import PipelineKit
import PipelineTestKit
import Testing

@Suite("Services that documents share", .timeLimit(.minutes(3))) struct SharedServiceTests {
    private static let service = """
        // What every document says of it.
        { "$schema": "x", "x-team": "media",
          "url": "https://api.example.com/v1", "timeout": "5s",
          "with": [ { "bearer": "${{ secrets.KEY ?? 'demo' }}" } ] }
        """

    private static func document(_ service: String) -> String {
        """
        { "pipeline": 1, "name": "shared",
          "services": { "api": \(service) },
          "stages": [ { "id": "a", "kind": "request", "service": "api", "request": { "GET": "/x" } } ] }
        """
    }

    private func bench(_ document: String, _ service: String = service) throws -> ExampleBench {
        let bench = try ExampleBench()
        try FileManager.default.createDirectory(
            atPath: bench.folder + "/services", withIntermediateDirectories: true)
        try service.write(toFile: bench.folder + "/services/api.json", atomically: true, encoding: .utf8)
        try document.write(toFile: bench.folder + "/a.json", atomically: true, encoding: .utf8)
        return bench
    }

    private func plan(_ bench: ExampleBench) throws -> Plan {
        let workspace = ExampleBench.workspace(environment: [:], state: "/nonexistent")
        return try Planner(catalogue: workspace.catalogue).plan(try JobDraft.source(at: bench.folder + "/a.json"))
    }

    @Test("stand in a file of their own; what the document says beside it wins, and its lines keep their numbers")
    func used() throws {
        let bench = try bench(
            Self.document("{ \"use\": \"services/api.json\",\n    \"timeout\": \"9s\" }"))
        defer { bench.remove() }
        let plan = try plan(bench)
        let service = try #require(plan.definition.services.first)
        #expect(service.name == "api" && service.url.constant == "https://api.example.com/v1")
        #expect(service.timeout?.constant == .seconds(9))
        #expect(service.decorators.map(\.name) == ["bearer"])
        #expect(plan.secrets == ["KEY"])
        #expect(plan.stages[0].place.hasSuffix("a.json:4:15"), "\(plan.stages[0].place)")
        // A job keeps what the file said when it started.
        let kept = plan.definition.source.bytes
        try "{}".write(toFile: bench.folder + "/services/api.json", atomically: true, encoding: .utf8)
        let again = try Planner(catalogue: ExampleBench.workspace(environment: [:], state: "/nonexistent").catalogue)
            .plan(SourceText(name: "a.json", bytes: kept))
        #expect(again.definition.services.first?.timeout?.constant == .seconds(9))
    }

    @Test("with mistakes are told at their places in their own file")
    func mistakes() throws {
        let bench = try bench(
            Self.document(#"{ "use": "services/api.json" }"#),
            "{ \"url\": \"ftp://h\",\n  \"timout\": \"5s\" }")
        defer { bench.remove() }
        let error = #expect(throws: DefinitionError.self) { try plan(bench) }
        let report = error?.report ?? ""
        #expect(report.contains("services/api.json:1:10: error: a service's URL begins with http"), "\(report)")
        #expect(report.contains("services/api.json:2:3: error:") && report.contains("timeout"), "\(report)")
    }

    @Test("that are not there, or use others, are refused with the place")
    func refused() throws {
        let missing = try bench(Self.document(#"{ "use": "services/none.json" }"#))
        defer { missing.remove() }
        let none = #expect(throws: DefinitionError.self) { try plan(missing) }
        let report = none?.report ?? ""
        #expect(report.contains("a.json:2:33: error: cannot read services/none.json"), "\(report)")
        let chained = try bench(
            Self.document(#"{ "use": "services/api.json" }"#), #"{ "use": "other.json" }"#)
        defer { chained.remove() }
        let chain = #expect(throws: DefinitionError.self) { try plan(chained) }
        #expect(chain?.report.contains("can't use another one") == true)
        // A document that stands in no file can't find it.
        let workspace = ExampleBench.workspace(environment: [:], state: "/nonexistent")
        let text = SourceText(name: "a.json", text: Self.document(#"{ "use": "services/api.json" }"#))
        #expect(throws: DefinitionError.self) { try Planner(catalogue: workspace.catalogue).plan(text) }
    }

    @Test("are checked by 'validate' with the document, and a mistake names their file in JSON too")
    func validate() async throws {
        let bench = try bench(Self.document(#"{ "use": "services/api.json" }"#))
        defer { bench.remove() }
        let program = try BuiltProgram(named: "pipeline")
        let environment = ["HOME": bench.folder, "PATH": "/usr/bin:/bin"]
        let right = try await program.run(["validate", "a.json"], environment: environment, folder: bench.folder)
        #expect(right.cause == .exited(0), "\(right)")
        try "{".write(toFile: bench.folder + "/services/api.json", atomically: true, encoding: .utf8)
        let wrong = try await program.run(
            ["validate", "a.json", "--json"], environment: environment, folder: bench.folder)
        #expect(wrong.cause == .exited(2), "\(wrong)")
        let message = try JSON.parse(wrong.output).array?.first?["errors"]?.array?.first?["message"]?.string
        #expect(message?.hasPrefix("services/api.json: ") == true, "\(wrong)")
    }
}
