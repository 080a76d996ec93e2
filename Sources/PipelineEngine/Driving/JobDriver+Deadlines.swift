import JSONPath
import PipelineCore

extension JobDriver {
    /// When the step's deadline passes; nil for none, or while an expression for it has no value.
    func deadline(of key: StepKey) -> Timestamp? {
        guard let setting = plan.stage(key.stage)?.deadline, let started = snapshot.steps[key]?.started,
            let duration = setting.constant ?? (try? setting.value(in: scope(for: key)))
        else { return nil }
        return started + duration
    }

    /// Whether a step has run out of time that the engine keeps.
    func overdue(_ key: StepKey) -> Bool {
        guard plan.stage(key.stage)?.keepsOwnDeadline == false, let deadline = deadline(of: key) else { return false }
        return deadline <= ports.clock.now
    }

    /// The next moment at which something is due: a wake, or a deadline that the engine keeps.
    func nextMoment() -> Timestamp? {
        let wake = JobMachine(plan: plan).nextWake(of: snapshot)
        let deadlines = snapshot.steps.keys.filter { key in
            plan.stage(key.stage)?.keepsOwnDeadline == false && snapshot.steps[key]?.state.tries != nil
        }.compactMap { deadline(of: $0) }
        return ([wake].compactMap { $0 } + deadlines).min()
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
        try await change(key, .tryFailed(TryFailure(failure, kind: .definite), stage.retry, random: 0))
    }
}
