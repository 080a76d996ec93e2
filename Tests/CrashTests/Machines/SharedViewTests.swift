import Foundation
import PipelineTestKit
import Testing

/// Metrics and traces of jobs do not depend on where the journal is.
@Suite(
    "Metrics and traces over PostgreSQL", .timeLimit(.minutes(3)),
    .enabled(if: PostgresServer.isAvailable, Comment(rawValue: PostgresServer.howTo)))
struct SharedViewTests {
    private static let document = #"""
        { "pipeline": 1, "name": "many", "inputs": { "names": { "type": "json", "default": ["a", "b"] } },
          "stages": [
            { "id": "each", "kind": "write", "forEach": "inputs.names", "to": "${{ item }}.txt", "text": "1" },
            { "id": "bad", "kind": "write", "to": "bad.txt", "text": "1", "when": "inputs.names" } ] }
        """#

    /// The counters of the page, and how often things were observed; how long they took is another each time.
    private func counters(_ samples: [String: Double]) -> [String: Double] {
        samples.filter { name, _ in
            (name.contains("_total") || name.contains("_count"))
                && !name.hasPrefix("process_") && !name.hasPrefix("pipeline_journal")
        }
    }

    /// Runs two jobs and gives back what is counted of them, and their spans by the ids of their jobs' keys.
    private func look(_ environment: [String: String]) async throws -> (counters: [String: Double], spans: [String]) {
        let collector = try Collector()
        defer { collector.server.stop() }
        var result: (counters: [String: Double], spans: [String]) = ([:], [])
        try await withWorkplace { workplace in
            let file = try workplace.write("w.json", Self.document)
            let variables = environment.merging(collector.environment) { $1 }.merging([
                "OTEL_EXPORTER_OTLP_PROTOCOL": "http/json"
            ]) { $1 }
            for key in ["one", "two"] {
                let end = try await workplace.run(
                    "run", file, "--output", workplace.path(key), "--key", key, environment: variables)
                #expect(end.cause == .exited(1), "\(end)")
            }
            let spans = try collector.read()
            let traces = Dictionary(grouping: spans, by: \.trace)
            #expect(traces.count == 2)
            for spans in traces.values {
                #expect(ReadSpan.mistakes(in: spans).isEmpty, "\(ReadSpan.mistakes(in: spans))")
            }
            result.spans = spans.map { span in
                "\(span.name) \(span.attributes["cicd.pipeline.task.name"] ?? "") \(span.attributes["pipeline.item"] ?? "")"
            }.sorted()
            // A further owner finds nothing that is left to export, and the same figures.
            let count = collector.requests.count
            _ = try await workplace.run("resume", "--all", environment: variables)
            #expect(collector.requests.count == count)
            result.counters = try await withMetrics(in: workplace, environment: environment) {
                counters(try await $0.samples())
            }
        }
        return result
    }

    @Test("are those of a state folder for the same jobs")
    func same() async throws {
        let server = try await PostgresServer.shared()
        let address = server.address(of: try await server.makeDatabase())
        try await withWorkplace { workplace in
            let end = try await workplace.run("journal", "migrate", environment: ["PIPELINE_JOURNAL": address])
            #expect(end.cause == .exited(0), "\(end)")
        }
        let (here, there) = (try await look([:]), try await look(["PIPELINE_JOURNAL": address]))
        #expect(here.counters == there.counters && !here.counters.isEmpty, "\(here.counters) \(there.counters)")
        #expect(there.counters[#"pipeline_jobs_ended_total{pipeline="many",result="failed"}"#] == 2)
        #expect(here.spans == there.spans && here.spans.count >= 10, "\(there.spans)")
    }
}
