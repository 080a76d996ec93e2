import Foundation
import Testing

/// The list of mistakes that the tests of the law must notice (`make mutants`).
@Suite struct MutantTests {
    private static var root: String {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().path
    }

    @Test("each mistake of the list can still be made, in one place, and every part of the law has one")
    func list() throws {
        let text = try String(contentsOfFile: "\(Self.root)/.scripts/mutants.list", encoding: .utf8)
        var files: Set<String> = []
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let parts = line.split(separator: "\t", omittingEmptySubsequences: false)
            try #require(parts.count == 3, "\(line)")
            let path = "\(Self.root)/Sources/PipelineCore/Job/\(parts[0])"
            let code = try String(contentsOfFile: path, encoding: .utf8)
            #expect(code.ranges(of: parts[1]).count == 1, "\(line)")
            #expect(parts[1] != parts[2], "\(line)")
            files.insert(String(parts[0].split(separator: "/").last ?? parts[0]))
        }
        for part in [
            "StepState+Apply", "StageDecision", "FanOut", "Renewal", "Restart", "ResumeWatch", "NotificationQueue",
            "EstimateMarks", "JobEnding", "StepIndex", "StepExpiries", "JobTable", "JobState",
        ] {
            #expect(files.contains("\(part).swift"), "no mistake in \(part)")
        }
    }
}
