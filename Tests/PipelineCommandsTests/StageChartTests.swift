import PipelineCore
import Testing
@testable import PipelineCommands

/// The bars of `show`.
@Suite("The chart of stages") struct StageChartTests {
    // It said -3600 s.
    @Test("shows no time below zero for a stage that ended before it began, by a clock that was set back")
    func setBack() {
        let start = Timestamp(milliseconds: 1_790_000_000_000)
        var step = StepRecord(state: .succeeded([:]))
        (step.started, step.ended) = (start, start - .seconds(3600))
        let chart = StageChart(steps: [(StepKey(stage: "upload"), step)], end: start + .seconds(10))
        #expect(chart.lines.count == 2 && chart.lines.last?.hasSuffix(" 0.0 s") == true, "\(chart.lines)")
    }
}
