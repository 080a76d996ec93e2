import JSONPath
import Testing

@testable import PipelineCore

/// What the stages of `finally` read of those that came to no good end.
@Suite struct CleaningTests {
    private static let (source, clean) = (StepKey(stage: "a"), StepKey(stage: "f"))
    private static let finally = #"], "finally": [ { "id": "f", "kind": "step" }"#

    private static func table(_ stages: String, _ steps: [StepKey: StepRecord]) throws -> JobTable {
        let snapshot = JobSnapshot(record: JobSnapshotTests.record, steps: steps, mode: .attached)
        return JobTable(
            snapshot, plan: try JobStateTests.plan(stages + finally), values: JobValues(environment: [:]),
            at: JobMoment(Samples.now))
    }

    private static func step(_ state: StepState, _ captures: JSONObject = [:]) -> StepRecord {
        var step = StepRecord(state: state, value: "p")
        step.captures = captures
        step.started = Samples.now
        return step
    }

    /// A repeated stage under way: one item has succeeded, one has failed after it made something, and one runs.
    private static func repeated() throws -> JobTable {
        try table(
            #"{ "id": "a", "kind": "step", "forEach": "split('p,q,r', ',')" }"#,
            [
                source: StepRecord(state: .running(AttemptState())),
                StepKey(stage: "a", item: 0): step(.succeeded(["x": 1]), ["x": 1]),
                StepKey(stage: "a", item: 1): step(.failed(Samples.failure), ["x": 2]),
                StepKey(stage: "a", item: 2): step(.running(AttemptState()), ["x": 3]),
            ])
    }

    /// All of it was null, and the machines that the items had made stayed.
    @Test("what the items of a stage made is read after a failure")
    func items() throws {
        var (failed, fanOut) = (try Self.repeated(), FanOut())
        try failed.change(StepKey(stage: "a", item: 2), .cancelled)
        let stage = try #require(failed.plan.stage("a"))
        guard case .failure = fanOut.gather(stage, in: &failed) else {
            Issue.record("the stage did not fail")
            return
        }
        #expect(failed.scope(for: Self.clean).stages["a"] == ["x": [1, 2, 3]])
    }

    /// A session was never ended whose stage ran again as the job was cancelled.
    @Test("what a stage gave is read when it does not end well that runs again for fresh captures")
    func renewed() throws {
        let stages = #"{ "id": "a", "kind": "step" }, { "id": "b", "kind": "step", "renew": "a" }"#
        for end in [StepEvent.cancelled, Samples.failed(.definite)] {
            var table = try Self.table(
                stages,
                [
                    Self.source: Self.step(.succeeded(["x": 1]), ["x": 1]),
                    StepKey(stage: "b"): Self.step(.running(AttemptState())),
                ])
            try Renewal.runAgain("a", in: &table)
            try table.change(Self.source, .started)
            try table.change(Self.source, end)
            #expect(table.scope(for: Self.clean).stages["a"] == ["x": 1])
            #expect(table.scope(for: StepKey(stage: "b")).stages["a"] == nil)
        }
    }
}
