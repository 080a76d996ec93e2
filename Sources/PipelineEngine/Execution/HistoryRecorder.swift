import PipelineCore

/// Tells the history of durations what a job's changes say of it: other jobs learn from a remote job while it runs, for
/// those that end first are the short ones.
struct HistoryRecorder: Sendable {
    /// Nil when nobody remembers.
    let cache: DurationHistoryCache?
    let job: JobID
    let pipeline: String

    /// Notes changes that are about to be committed.
    func note(_ changes: [JournalChange], of state: JobState) {
        guard let history = cache else { return }
        for change in changes {
            switch change {
            case .step(let key, _): noteRunning(key, state, in: history)
            case .sample(let sample): history.add(sample)
            case .released, .ended: history.forgetRunning(job, in: pipeline)
            case .submit, .fact, .event, .file, .resume, .taken, .requested, .callbacksTaken,
                .callbackJudged, .callbacksVoided, .reopened,
                .notification, .measured, .item:
                break
            }
        }
    }

    private func noteRunning(_ key: StepKey, _ state: JobState, in history: DurationHistoryCache) {
        if let sample = state.marks.runningSample(of: key, in: state.table) {
            history.setRunning(sample, job, key)
        } else if let step = state.table.step(key), step.state.isEnded || step.attempts > 1 {
            history.forgetRunning(job, key, in: pipeline)
        }
    }

    /// Returns what is known of the step's duration: of a remote job also by how long others have run by now.
    func outlook(of key: StepKey, _ stage: PlannedStage, in state: JobState) -> StageOutlook {
        guard case .remoteJob = stage.stage.work, let history = cache else {
            return state.marks.outlook(of: key, stage, in: state.table)
        }
        let latest = history.samples(of: pipeline, stage: key.stage, besides: job)
        return state.marks.outlook(of: key, stage, in: state.table, latest: latest)
    }
}
