import JSONPath
import PipelineCore

/// Captures that are no longer good, and the stages that give fresh ones.
///
/// The stage that gives them is made pending before the one that waits is parked: after a crash between the two the
/// waiting one is held by the machine until the other has ended, as without a crash.
extension JobExecutor {
    /// Statuses by which services say that a link or a token is no longer good.
    private static let voidStatuses: Set<Int> = [401, 403, 404, 410]

    /// Whether a failed try is worth another one with fresh captures: once, until bytes have moved again.
    func mayRenew(_ key: StepKey, _ stage: PlannedStage, _ failed: AttemptFailure) -> Bool {
        guard let source = stage.renews, let status = failed.failure.status, stop == nil,
            let tries = snapshot.steps[key]?.state.tries
        else { return false }
        let isOver = snapshot.expiry(StepKey(stage: source)).map { $0.time <= ports.clock.now } ?? false
        guard Self.voidStatuses.contains(status) || isOver && (400..<500).contains(status) else { return false }
        return tries.renewals == 0 || failed.progressed
    }

    /// Parks a step until the stage that it names has run again.
    ///
    /// - Parameter began: when the failed try began: captures that are newer than that are fresh already.
    func renew(
        _ key: StepKey, _ stage: PlannedStage, _ failure: StepFailure, began: Timestamp
    ) async throws(JournalFailure) {
        guard let source = stage.renews else { return }
        if let step = snapshot.steps[StepKey(stage: source)], step.state.name == .succeeded,
            step.ended.map({ $0 <= began }) ?? true
        {
            try await runAgain(source)
        }
        try await change(key, .renewed(failure))
    }

    /// Looks at what a step that is about to begin reads: true when something of it has expired, and the step waits for
    /// it or has failed.
    func renewExpired(_ key: StepKey, _ stage: PlannedStage) async throws(JournalFailure) -> Bool {
        for source in snapshot.sources(of: key, stage) {
            let found: StepExpiry?
            do throws(StageFailure) {
                found = try await expiry(of: source, readBy: stage)
            } catch {
                try await fail(key, stage, error)
                return true
            }
            guard let found, found.time <= ports.clock.now else { continue }
            if stage.renews == source.stage, found.time > found.since {
                try await runAgain(source.stage)
            } else {
                try await fail(key, stage, .definite(void(found, for: stage)))
            }
            return true
        }
        guard key.item != nil, let own = snapshot.pressing(key, in: plan), own.holder == key,
            own.time <= ports.clock.now
        else { return false }
        try await fail(key, stage, .definite(void(own, for: stage)))
        return true
    }

    /// Makes a stage that has succeeded pending again, for fresh captures.
    private func runAgain(_ source: String) async throws(JournalFailure) {
        let key = StepKey(stage: source)
        guard let stage = plan.stage(source), let step = snapshot.steps[key], step.state.name == .succeeded else {
            return
        }
        var fresh = step
        if !stage.keepsSubmit {
            fresh = StepRecord(toleratesFailure: step.toleratesFailure, value: step.value)
            fresh.bytesSent = step.bytesSent
            fresh.bytesReceived = step.bytesReceived
            fresh.resumes = step.resumes
        }
        fresh.state = .pending
        fresh.started = nil
        fresh.ended = nil
        fresh.expires = nil
        fresh.version = step.version + 1
        var changes = [JournalChange.step(key, fresh)]
        if !stage.keepsSubmit, let submit = snapshot.submits[key] {
            // Its author wants it sent again: the key of the first would only bring the first answer.
            changes.append(.submit(key, submit.nextGeneration(jobKey: snapshot.record.key, step: key)))
        }
        try await commit(changes)
    }

    /// Fails a step whose fresh captures did not come; false when it may go on.
    func failUnrenewed(_ key: StepKey, _ stage: PlannedStage) async throws(JournalFailure) -> Bool {
        guard let source = stage.renews, let state = snapshot.steps[StepKey(stage: source)]?.state,
            state.name != .succeeded, case .running(let tries) = snapshot.steps[key]?.state, tries.renewals > 0
        else { return false }
        let failure = StepFailure(
            "stage '\(source)', which was to give fresh captures, did not succeed", place: stage.place)
        try await change(key, .tryFailed(AttemptFailure(failure, kind: .definite), stage.retry, random: 0))
        return true
    }
}
