import Foundation
import JSONPath
import PipelineCore
import Testing

/// A folder for each wrong document, with the whole report that people get to see. `RECORD=1` writes the reports again.
@Suite("Invalid documents")
struct InvalidDocumentTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Invalid")
    static let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()

    @Test("the report of a wrong document is as recorded", arguments: names)
    func report(name: String) throws {
        let folder = Self.folder.appending(path: name)
        let bytes = Array(try Data(contentsOf: folder.appending(path: "pipeline.json")))
        let source = SourceText(name: "pipeline.json", bytes: bytes)
        let report = Self.report(of: source) + "\n"
        let expected = folder.appending(path: "expected.txt")
        if ProcessInfo.processInfo.environment["RECORD"] == "1" {
            try report.write(to: expected, atomically: true, encoding: .utf8)
        }
        #expect(report == (try String(contentsOf: expected, encoding: .utf8)))
    }

    @Test("the documents are found")
    func found() { #expect(Self.names.count >= 60) }

    private static func report(of source: SourceText) -> String {
        do throws(DefinitionError) {
            _ = try Planner(catalogue: SampleKinds.catalogue).plan(source)
            return "valid"
        } catch {
            return error.report
        }
    }
}
