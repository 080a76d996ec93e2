import PipelineCore
import Testing

@testable import PipelineStages

@Suite("How many parts at a time")
struct PartPaceTests {
    /// The width after some parts over a path that gives each connection a rate and all of them together another.
    private func width(most: Int, parts: Int, each: Double, all: Double) -> Int {
        let begin = Timestamp(milliseconds: 0)
        var pace = PartPace(most: most, now: begin)
        var time = Duration.zero
        var widths: [Int] = []
        for _ in 0..<parts {
            let rate = min(each * Double(pace.width), all)
            time += .seconds(1_000_000 / rate)
            pace.note(1_000_000, at: begin + time)
            widths.append(pace.width)
        }
        #expect(widths.allSatisfy { $0 <= most })
        return widths.last ?? 0
    }

    @Test("grows to the most where each connection is limited", arguments: [1, 2, 5, 8])
    func limited(most: Int) { #expect(width(most: most, parts: 40, each: 1e6, all: 1e9) == most) }

    @Test("stays at one where one takes all there is")
    func clean() { #expect(width(most: 8, parts: 9, each: 1e8, all: 1e8) == 1) }

    @Test("stops where more no longer pays")
    func bounded() { #expect(width(most: 16, parts: 20, each: 1e6, all: 4e6) == 4) }

    @Test("one that is all that is allowed never changes")
    func single() { #expect(width(most: 1, parts: 10, each: 1e6, all: 1e9) == 1) }
}
