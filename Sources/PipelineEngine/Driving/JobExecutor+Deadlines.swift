import JSONPath
import PipelineCore

extension JobExecutor {
    /// When the step's deadline passes; nil for none, or while an expression for it has no value.
    func deadline(of key: StepKey) -> Timestamp? {
        snapshot.deadline(of: key, in: plan, scope: scope(for: key))
    }

    /// Whether a step has run out of time that the engine keeps.
    func overdue(_ key: StepKey) -> Bool {
        guard plan.stage(key.stage)?.keepsOwnDeadline == false, let deadline = deadline(of: key) else { return false }
        return deadline <= ports.clock.now
    }

    /// The next deadline that the engine keeps; nothing holds it back.
    var nextDeadline: Timestamp? {
        snapshot.steps.keys.filter { key in
            plan.stage(key.stage)?.keepsOwnDeadline == false && snapshot.steps[key]?.state.tries != nil
        }.compactMap { deadline(of: $0) }.min()
    }

    /// Stops calls whose deadline has passed, and fails steps whose deadline passed while they waited.
    func keepDeadlines() async throws(JournalFailure) {
        for key in snapshot.steps.keys.filter(overdue).sorted() {
            switch snapshot.steps[key]?.state {
            case .running: runs[key]?.stop()
            case .waiting:
                if let stage = plan.stage(key.stage) {
                    try await change(key, .woken)
                    try await failOverdue(key, stage)
                }
            case .pending, .unknown, .succeeded, .failed, .cancelled, .skipped, nil: break
            }
        }
    }

    func failOverdue(_ key: StepKey, _ stage: PlannedStage) async throws(JournalFailure) {
        let started = snapshot.steps[key]?.started?.description ?? ""
        let failure = StepFailure(
            "stage '\(key)' did not end before its deadline",
            hint: "it began at \(started); a longer \"deadline\" gives it more time", place: stage.place)
        try await change(key, .tryFailed(AttemptFailure(failure, kind: .definite), stage.retry, random: 0))
    }
}
