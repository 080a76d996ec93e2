import JSONPath
import Testing

@testable import PipelineCore

/// Files by their paths, with a digest each.
private struct KnownFiles: FileFacts {
    let digests: [String: String]

    func value(of fact: Fact) async throws(StepFailure) -> JSON { throw StepFailure("no file") }

    func contentDigest(ofFileAt path: String) async -> String? { digests[path] }
}

@Suite struct InputDigestTests {
    private static func digest(
        _ inputs: JSONObject, key: String? = "nightly", reads: String = "${{ self.key }}"
    ) async throws -> String? {
        let text = """
            { "pipeline": 1, "name": "test",
              "inputs": { "takes": { "type": "files" }, "language": { "type": "string" } },
              "stages": [ { "id": "a", "kind": "step", "reads": "\(reads)" } ] }
            """
        let catalogue = Catalogue(kinds: JobStateTests.kinds, checkDecorators: { _, _ in })
        let plan = try Planner(catalogue: catalogue).plan(SourceText(name: "test.json", text: text))
        let id = JobID("01jcxyz0000000000000000000")
        let record = JobRecord(
            id: id, pipeline: "test", key: key ?? id.text, started: Timestamp(milliseconds: 0), source: text,
            sourceName: "test.json", digest: "d", inputs: inputs, environment: [:],
            folders: JobFolders(document: "/", output: "/"), overwrites: false)
        let files = KnownFiles(digests: ["/a/1.wav": "aa", "/b/1.wav": "aa", "/a/2.wav": "bb"])
        return await InputDigest(of: record, plan: plan, files: files).value()
    }

    @Test("tells values, names of files and what stands in them, and no folder")
    func values() async throws {
        let first = try #require(try await Self.digest(["takes": ["/a/1.wav"], "language": "en"]))
        #expect(first.count == 64)
        #expect(try await Self.digest(["takes": ["/b/1.wav"], "language": "en"]) == first)
        #expect(try await Self.digest(["language": "en", "takes": ["/a/1.wav"]]) == first)
        #expect(try await Self.digest(["takes": ["/a/2.wav"], "language": "en"]) != first)
        #expect(try await Self.digest(["takes": ["/a/1.wav", "/a/2.wav"], "language": "en"]) != first)
        #expect(try await Self.digest(["takes": ["/a/1.wav"], "language": "de"]) != first)
    }

    @Test("is not asked for where the key comes once, or where none is sent")
    func without() async throws {
        #expect(try await Self.digest(["takes": ["/a/1.wav"], "language": "en"], key: nil) == nil)
        let unread = "${{ inputs.language }}"
        #expect(try await Self.digest(["takes": ["/a/1.wav"], "language": "en"], reads: unread) == nil)
        #expect(try await Self.digest([:]) == nil)
    }
}
