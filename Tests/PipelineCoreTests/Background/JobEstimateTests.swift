import JSONPath
import PipelineCore
import Testing

@Suite struct JobEstimateTests {
    /// The time that half of all jobs need at most, of one whose first stage has ended, both guessed at a minute.
    private static func median(of second: StepState, heldFor seconds: Double?) throws -> Double? {
        let text = """
            { "pipeline": 1, "name": "p", "stages": [
              { "id": "a", "kind": "wait", "for": "1m", "estimate": "60s" },
              { "id": "b", "kind": "wait", "for": "1m", "estimate": "60s" } ] }
            """
        let plan = try Planner(catalogue: SampleKinds.catalogue).plan(SourceText(name: "p.json", text: text))
        let steps = [
            StepKey(stage: "a"): StepRecord(state: .succeeded([:])), StepKey(stage: "b"): StepRecord(state: second),
        ]
        let job = JobSnapshot(record: JobSnapshotTests.record, steps: steps, mode: .background)
        let now = Timestamp.at(0)
        return JobEstimate(
            job, plan: plan, samples: [:], at: now,
            heldUntil: { step in step.stage == "b" ? seconds.map { now + .seconds($0) } : nil }
        )?.quantile(0.5).rounded()
    }

    @Test("what is held back begins later; what a service does meanwhile goes on")
    func held() throws {
        let waiting = StepState.waiting(AttemptState(), .at(.at(5)), WaitReason(.poll))
        for (state, seconds, expected) in [
            (StepState.pending, nil, 60.0), (.pending, 3600, 3660), (waiting, nil, 60), (waiting, 3600, 3600),
            (waiting, 1, 60), (.running(AttemptState()), 3600, 60),
            // Its author's word is known better than what it took before.
            (.waiting(AttemptState(), .at(.at(900)), WaitReason(.time)), nil, 900),
            // A service that is closed does nothing earlier.
            (.waiting(AttemptState(), .at(.at(900)), WaitReason(.closed)), nil, 900),
            (.waiting(AttemptState(), .at(.at(900)), WaitReason(.retry)), nil, 900),
            (.waiting(AttemptState(), .at(.at(900)), WaitReason(.poll)), nil, 60),
            // What a service said at the last poll is known to all who look.
            (
                .waiting(
                    AttemptState(), .at(.at(900)), WaitReason(.poll, foretold: ForetoldEnd(.at(60), said: .at(0)))),
                nil, 60
            ),
        ] as [(StepState, Double?, Double)] {
            let median = try #require(try Self.median(of: state, heldFor: seconds))
            #expect(abs(median - expected) <= 2, "\(state.name) \(seconds ?? 0): \(median)")
        }
    }
}
