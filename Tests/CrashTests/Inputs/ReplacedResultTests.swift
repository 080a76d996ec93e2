import Foundation
import JSONPath
import PipelineTestKit
import Synchronization
import Testing

/// A result in whose place another file was put before the stage that sends it, by the built program.
@Suite("A result that another file has replaced")
struct ReplacedResultTests {
    private static func document(_ send: String) -> String {
        """
        { "pipeline": 1, "name": "replaced", "services": { "api": { "url": "${{ env.API_URL }}" } },
          "retry": { "delay": "20ms", "max": "100ms" },
          "stages": [
            { "id": "fetch", "kind": "download", "service": "api", "request": { "GET": "/model" }, "to": "m.bin",
              "digest": true },
            { "id": "pause", "kind": "request", "service": "api", "request": { "GET": "/pause" }, "needs": ["fetch"] },
            { "id": "send", "kind": "request", "service": "api", "needs": ["pause"],
              "request": { "PUT": "/there", \(send) } } ] }
        """
    }

    /// The other file went out as if it were the job's, and the job succeeded.
    @Test(
        "is not sent, nor read by an expression",
        arguments: [
            #""file": "${{ stages.fetch.path }}""#, #""json": { "text": "${{ text(stages.fetch.path) }}" }"#,
        ])
    func replaced(send: String) async throws {
        try await withWorkplace { workplace in
            let output = workplace.output
            let puts = Mutex<[[UInt8]]>([])
            let replaces = Mutex(true)
            let server = try LoopbackServer { request in
                if request.method == "PUT" { puts.withLock { $0.append(request.body) } }
                if request.target == "/pause", replaces.withLock({ $0 }) {
                    try? "another job's".write(toFile: output + "/m.bin", atomically: true, encoding: .utf8)
                }
                return request.target == "/model" ? .status(200, body: "model") : .json("{}")
            }
            defer { server.stop() }
            try workplace.write("replaced.json", Self.document(send))
            let environment = ["API_URL": server.url]
            let end = try await workplace.run("run", "replaced.json", "--output", output, environment: environment)
            #expect(end.cause == .exited(1), "\(end)")
            #expect(end.errors.contains("m.bin is not the file any more that this job has written"), "\(end)")
            #expect(puts.withLock { $0.isEmpty })
            replaces.withLock { $0 = false }
            let job = try #require(end.errors.split(separator: " ").dropFirst().first.map(String.init))
            #expect(end.errors.contains("pipeline retry \(job) --from fetch --overwrite"), "\(end)")
            // The very bytes are the file again.
            try workplace.write("model", "model")
            rename(workplace.path("model"), output + "/m.bin")
            #expect(try await workplace.run("resume", job, environment: environment).cause == .exited(0))
            #expect(puts.withLock { $0.count } == 1)
            let again = try await workplace.run(
                "retry", job, "--from", "fetch", "--overwrite", environment: environment)
            #expect(again.cause == .exited(0), "\(again)")
            #expect(puts.withLock { $0.count } == 2)
            #expect(workplace.bytes(output + "/m.bin") == Array("model".utf8))
        }
    }
}
