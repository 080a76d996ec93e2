import PipelineCore

/// Tells the history of durations what a job's changes say of it: other jobs learn from a remote job while it runs, for
/// those that end first are the short ones.
struct HistoryRecorder: Sendable {
    /// Nil when nobody remembers.
    let cache: DurationHistoryCache?
    let job: JobID
    let pipeline: String

    /// Notes changes that are about to be committed. The state is only read, where it lies: by value it would be copied.
    func note(_ changes: [JournalChange], of state: inout JobState) {
        guard let history = cache else { return }
        for change in changes {
            switch change {
            case .step(let key, _):
                if case .remoteJob = state.table.plan.stage(key.stage)?.stage.work {
                    noteRunning(key, state, in: history)
                }
            case .sample(let sample): history.add(sample)
            case .released, .ended: history.forgetRunning(job, in: pipeline)
            case .submit, .fact, .event, .file, .resume, .taken, .requested, .answered, .callbacksTaken,
                .callbackJudged, .callbacksVoided, .reopened,
                .notification, .measured, .item:
                break
            }
        }
    }

    private func noteRunning(_ key: StepKey, _ state: JobState, in history: DurationHistoryCache) {
        if let sample = state.marks.runningSample(of: key, in: state.table) {
            history.setRunning(sample, job, key)
        } else if let step = state.table.snapshot.steps[key], step.state.isEnded || step.attempts > 1 {
            history.forgetRunning(job, key, in: pipeline)
        }
    }

    /// Returns what is known of the step's duration, as a closure that makes it: of a remote job also by how long others
    /// have run by then.
    func outlook(of key: StepKey, _ stage: PlannedStage, in state: JobState) -> @Sendable () -> StageOutlook {
        guard case .remoteJob = stage.stage.work, let history = cache else {
            return state.marks.outlook(of: key, stage, in: state.table)
        }
        return state.marks.outlook(of: key, stage, in: state.table) { [pipeline, job] subject, size, guess in
            history.outlook(of: pipeline, stage: key.stage, subject: subject, size: size, guess: guess, besides: job)
        }
    }
}
