import Foundation
import Testing

@Suite("Folders inside a target")
struct FolderTests {
    private static let sources = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Sources")

    private static let targets = ImportTests.allowed.map(\.target) + ["PipelineTestKit"]

    @Test("depend on each other in one direction", arguments: targets)
    func oneDirection(target: String) throws {
        let cycle = try FolderGraph(of: Self.sources.appendingPathComponent(target)).cycle
        #expect(cycle.isEmpty, "\(target): \(cycle.joined(separator: "; "))")
    }

    @Test("that name each other's types are found, also over a third")
    func found() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let texts = [
            "Low/Low.swift": "public struct Low { let text = \"High\" } // High\n",
            "Middle/Middle.swift": "final class Middle { var low: Low }\n",
            "High/High.swift": "enum High { case one(Middle) }\nprivate struct Hidden {}\n",
        ]
        for (path, text) in texts {
            let file = folder.appendingPathComponent(path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
        #expect(try FolderGraph(of: folder).cycle == [])
        try "extension Low { func high() -> High {} }\n".write(
            to: folder.appendingPathComponent("Low/Low+High.swift"), atomically: true, encoding: .utf8)
        #expect(
            try FolderGraph(of: folder).cycle == [
                "High names Middle of Middle", "Middle names Low of Low", "Low names High of High",
            ])
    }
}
