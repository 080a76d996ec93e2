import JSONPath
import PipelineTestKit
import Testing

/// A batch whose items all fail for one reason, under the built program.
@Suite("A batch of which all items fail alike")
struct AlikeFailuresTests {
    private static let document = """
        { "pipeline": 1, "name": "get", "batch": { "key": "${{ inputs.name }}", "stopAfter": 3, "atOnce": 1 },
          "inputs": { "name": { "type": "string" } },
          "services": { "api": { "url": "${{ env.API_URL }}" } },
          "stages": [ { "id": "get", "kind": "download", "service": "api", "retry": { "attempts": 1 },
                        "request": { "GET": "/${{ inputs.name }}" }, "to": "${{ inputs.name }}.txt",
                        "verify": { "sha256": "${{ sha256(inputs.name) }}" } } ] }
        """

    /// All were begun and paid for, and each was a group of its own.
    @Test("stops though each sentence has digests of its own, and shows one group with the first as it came")
    func digests() async throws {
        try await withWorkplace { workplace in
            let server = try LoopbackServer { ScriptedAnswer.status(200, body: $0.path) }
            defer { server.stop() }
            try workplace.write("get.json", Self.document)
            try workplace.write("rows.csv", "name\n" + (1...9).map { "day-\($0)\n" }.joined())
            let end = try await workplace.run(
                "run", "get.json", "--each", "rows.csv", "--batch", "june", "--output", "out",
                environment: ["API_URL": server.url])
            #expect(end.cause == .exited(75) && end.errors.contains("3 failed, 6 pending"), "\(end)")
            let groups = try await workplace.show("june")["failures"]?.array ?? []
            #expect(groups.count == 1 && groups.first?["count"] == 3, "\(groups.map(\.text))")
            #expect(groups.first?["code"]?.string?.contains("its SHA-… is …") == true, "\(groups.map(\.text))")
            #expect(groups.first?["message"]?.string?.contains("its SHA-256 is ") == true)
            let shown = try await workplace.run("show", "june")
            #expect(shown.lines.contains { $0.hasPrefix("✗ 3 at get: the downloaded file is not") }, "\(shown)")
        }
    }
}
