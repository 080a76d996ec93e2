import PipelineCore
import Testing

@testable import PipelineStages

/// How long a poll waits while a person does.
@Suite struct PollPaceTests {
    /// Of jobs that take half an hour.
    private static let outlook = StageOutlook(
        samples: (0..<20).map { index in
            StageSample(pipeline: "p", stage: "s", ended: .epoch, seconds: 1800 + Double(index))
        })

    private func wait(_ pace: PollPaceDefinition, polls: Int, elapsed: Double, isAttended: Bool) throws -> Duration {
        try PollPace(pace, in: Scope()).wait(
            in: .init(polls: polls, elapsed: elapsed, outlook: { Self.outlook }, isAttended: isAttended))
    }

    @Test("an attended job is asked after at least every ten seconds, or a fifth of what has passed")
    func attended() throws {
        let pace = PollPaceDefinition()
        #expect(try wait(pace, polls: 3, elapsed: 5, isAttended: true) == .seconds(10))
        #expect(try wait(pace, polls: 9, elapsed: 200, isAttended: true) == .seconds(40))
        #expect(try wait(pace, polls: 3, elapsed: 5, isAttended: false) > .seconds(1000))
    }

    @Test("what the author says holds all the same")
    func said() throws {
        let first = PollPaceDefinition(first: .constant(.seconds(300)), isGiven: true)
        #expect(try wait(first, polls: 0, elapsed: 0, isAttended: true) == .seconds(300))
        let period = PollPaceDefinition(every: .constant(.seconds(60)), isGiven: true)
        #expect(try wait(period, polls: 4, elapsed: 10, isAttended: true) == .seconds(60))
    }
}
