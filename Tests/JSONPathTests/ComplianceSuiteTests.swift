import FoundationEssentials
import JSONPath
import Testing

/// The JSONPath compliance test suite, or a part of it, when a file of it is at hand.
struct ComplianceSuiteTests {
    /// `PIPELINE_JSONPATH_CTS`, or `../shared/jsonpath-cts-sample.json` beside the package's root.
    static let file: String? = {
        let root = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()
        let places = [
            ProcessInfo.processInfo.environment["PIPELINE_JSONPATH_CTS"],
            root + "/../shared/jsonpath-cts-sample.json",
        ]
        return places.compactMap { $0 }.first { FileManager.default.fileExists(atPath: $0) }
    }()

    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let content: JSON
        var testDescription: String { name }
    }

    static let cases: [Case] = {
        guard let file, let data = FileManager.default.contents(atPath: file),
            let suite = try? JSON.parse(data)
        else { return [] }
        return (suite["tests"]?.array ?? []).map { Case(name: $0["name"]?.string ?? "?", content: $0) }
    }()

    @Test(
        "every case of the compliance suite passes",
        .enabled(if: file != nil, "the suite's file is not there, skipped: set PIPELINE_JSONPATH_CTS to its path"))
    func everyCase() throws {
        #expect(Self.cases.count > 100)
        for one in Self.cases { try check(one) }
    }

    private func check(_ one: Case) throws {
        let selector = try #require(one.content["selector"]?.string)
        if one.content["invalid_selector"]?.bool == true {
            #expect(throws: JSONPathError.self, "\(one.name): \(selector)") { try JSONPathQuery(selector) }
            return
        }
        let document = try #require(one.content["document"])
        let query: JSONPathQuery
        do {
            query = try JSONPathQuery(selector)
        } catch {
            Issue.record("\(one.name): \(selector): \(error)")
            return
        }
        let nodes = try query.locatedNodes(in: document)
        let plain = try query.nodes(in: document)
        #expect(plain == nodes.map(\.value), "\(one.name)")
        let results = one.content["result"].map { [$0] } ?? one.content["results"]?.array ?? []
        #expect(results.contains(.array(nodes.map(\.value))), "\(one.name): \(selector) gave \(plain)")
        let paths = one.content["result_paths"].map { [$0] } ?? one.content["results_paths"]?.array ?? []
        #expect(paths.contains(.array(nodes.map { .string($0.path.description) })), "\(one.name): \(selector)")
    }
}
