import JSONPath
import Testing

@testable import PipelineCore

/// Items of a repeated stage whose elements come anew, since a stage that gives them ran again.
@Suite struct ReopenedItemsTests {
    private static let done = StepState.succeeded([:])
    private static let running = StepState.running(AttemptState())

    private static func key(_ stage: String, _ item: Int? = nil) -> StepKey { StepKey(stage: stage, item: item) }

    private static func step(_ state: StepState, _ value: JSON? = nil) -> StepRecord {
        var step = StepRecord(state: state, value: value)
        if state.isEnded { step.ended = Samples.now + .seconds(-30) }
        step.attempts = state.attempt?.number ?? 1
        return step
    }

    private static func table(
        _ stages: String, _ steps: [StepKey: StepRecord], submits: [StepKey: SubmitRecord] = [:]
    ) throws -> JobTable {
        var snapshot = JobSnapshot(record: JobSnapshotTests.record, steps: steps, mode: .attached)
        snapshot.submits = submits
        return JobTable(
            snapshot, plan: try JobStateTests.plan(stages), values: JobValues(environment: [:]),
            at: JobMoment(Samples.now))
    }

    /// Its item of the followed stage had failed in a run between, and the job succeeded without it for good.
    @Test("an item that was dropped begins when its item of the followed stage has succeeded after all")
    func dropped() throws {
        let stages = #"{ "id": "a", "kind": "step", "forEach": "split('p,q', ',')" }, "#
        let follower = #"{ "id": "b", "kind": "step", "forEach": { "stage": "a" } }"#
        let steps = [
            Self.key("a"): Self.step(Self.done), Self.key("a", 0): Self.step(Self.done, "p"),
            Self.key("a", 1): Self.step(Self.done, "q"), Self.key("b"): Self.step(Self.running),
            Self.key("b", 0): Self.step(Self.done, "p"), Self.key("b", 1): Self.step(.skipped),
        ]
        var (table, fanOut) = (try Self.table(stages + follower, steps), FanOut())
        let stage = try #require(table.plan.stage("b"))
        #expect(StageDecision.make(on: "b", in: table, fanOut, isQuiet: true) == .expand)
        try fanOut.expand(stage, ForEachItems(elements: nil, concurrencyLimit: nil), in: &table)
        #expect(table.step(Self.key("b", 0))?.state == Self.done)
        #expect(table.step(Self.key("b", 1))?.state == .pending && table.step(Self.key("b", 1))?.value == "q")
        #expect(StageDecision.make(on: "b", in: table, fanOut, isQuiet: true) == .beginItems(1))
    }
}
