import JSONPath
import Testing

@testable import PipelineCore

@Suite struct InputDigestTests {
    private static func digest(
        _ inputs: JSONObject, key: String? = "nightly", item: String? = nil
    ) throws -> String? {
        let text = """
            { "pipeline": 1, "name": "test",
              "inputs": { "takes": { "type": "files" }, "language": { "type": "json" } },
              "stages": [ { "id": "a", "kind": "step", "reads": "${{ self.key }}" } ] }
            """
        let catalogue = Catalogue(kinds: JobStateTests.kinds, checkDecorators: { _, _ in })
        let plan = try Planner(catalogue: catalogue).plan(SourceText(name: "test.json", text: text))
        let id = JobID("01jcxyz0000000000000000000")
        var record = JobRecord(
            id: id, pipeline: "test", key: key ?? id.text, started: Timestamp(milliseconds: 0), source: text,
            sourceName: "test.json", digest: "d", inputs: inputs, environment: [:],
            folders: JobFolders(document: "/", output: "/"), overwrites: false)
        record.item = item.map { BatchItem(batch: id, key: $0) }
        let contents = ["/a/1.wav": "aa", "/b/1.wav": "aa", "/a/2.wav": "bb"]
        return InputDigest(of: record, plan: plan)?.value(of: contents)
    }

    @Test("tells values, names of files and what stands in them, and no folder")
    func values() throws {
        let first = try #require(try Self.digest(["takes": ["/a/1.wav"], "language": "en"]))
        #expect(first.count == 64)
        #expect(try Self.digest(["takes": ["/b/1.wav"], "language": "en"]) == first)
        #expect(try Self.digest(["language": "en", "takes": ["/a/1.wav"]]) == first)
        #expect(try Self.digest(["takes": ["/a/2.wav"], "language": "en"]) != first)
        #expect(try Self.digest(["takes": ["/a/1.wav", "/a/2.wav"], "language": "en"]) != first)
        #expect(try Self.digest(["takes": ["/a/1.wav"], "language": "de"]) != first)
    }

    @Test("is the same for values that are equal, and another one for each item, whatever its number")
    func equalValues() throws {
        let first = try Self.digest(["language": ["a": 1, "b": [2.0]]], item: "x")
        #expect(try Self.digest(["language": ["b": [2], "a": 1.0]], item: "x") == first)
        #expect(try Self.digest(["language": ["a": 1, "b": [2.5]]], item: "x") != first)
        #expect(try Self.digest(["language": ["a": 1, "b": [2]]], item: "y") != first)
        let step = StepKey(stage: "a")
        let keys = ["n.1", "n.7"].map { key in
            SubmitName(jobKey: key, inputDigest: first, isItem: true, step: step).key(ofGeneration: 1)
        }
        #expect(Set(keys).count == 1)
    }

    @Test("is not asked for where the key comes once, or where nothing was given")
    func without() throws {
        #expect(try Self.digest(["takes": ["/a/1.wav"], "language": "en"], key: nil) == nil)
        #expect(try Self.digest([:]) == nil)
    }
}
