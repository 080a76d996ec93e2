import Foundation
import PipelineTestKit
import Testing

@Suite("Charts", .timeLimit(.minutes(2))) struct ChartTests {
    private func run(_ arguments: String..., in folder: String) async throws -> ProgramEnd {
        try await BuiltProgram(named: "pipeline").run(
            arguments, environment: BuiltProgram.environment(home: folder), folder: folder)
    }

    @Test("show draws when each stage was at work, stats how the durations are spread")
    func charts() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "charts-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try """
        { "pipeline": 1, "name": "two", "inputs": { "t": { "type": "string" } },
          "stages": [ { "id": "short", "kind": "wait", "for": "100ms" },
                      { "id": "long", "kind": "wait", "for": "${{ inputs.t }}" } ] }
        """.write(toFile: folder + "/two.json", atomically: true, encoding: .utf8)
        for time in ["200ms", "1s", "2s"] {
            let end = try await run("run", "two.json", "-i", "t=\(time)", in: folder)
            #expect(end.cause == .exited(0), "\(end)")
        }
        let show = try await run("show", "last", in: folder)
        let bars = show.output.split(separator: "\n").filter { $0.contains("█") }
        #expect(bars.count == 2 && bars[0].hasPrefix("short") && bars[1].hasPrefix("long"), "\(show)")
        // The second begins where the first ends, and takes most of the time.
        let (first, second) = (Array(bars[0]), Array(bars[1]))
        let end = try #require(first.lastIndex(of: "█"))
        let start = try #require(second.firstIndex(of: "█"))
        #expect(abs(start - end) <= 2, "\(show)")
        #expect(second.count { $0 == "█" } > 3 * first.count { $0 == "█" }, "\(show)")
        let stats = try await run("stats", "two", in: folder)
        let spread = stats.output.split(separator: "\n").filter { $0.contains("█") }
        #expect(spread.count == 2, "\(stats)")
        #expect(spread[1].count { "▁▂▃▄▅▆▇█".contains($0) } == 3, "three different durations: \(stats)")
        // A wait takes no less than it says; on a busy machine more.
        let seconds = spread[1].matches(of: /([0-9.]+) s/).compactMap { Double($0.output.1) }
        let (least, most) = (try #require(seconds.first), try #require(seconds.last))
        #expect(least >= 0.2 && most >= 2 && least < most, "\(stats)")
    }
}
