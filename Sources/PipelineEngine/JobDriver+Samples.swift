import PipelineCore

extension JobDriver {
    /// What a step that has just succeeded adds to the history; nil for one that says nothing about the next: one
    /// that failed, a whole of many items, or one that somebody else began.
    func sample(of key: StepKey, _ step: StepRecord, at now: Timestamp) -> StageSample? {
        guard step.state.name == .succeeded, let began = step.started, resumes.since[key] != nil,
            step.attempts <= 1
        else { return nil }
        let earliest = resumes.lastRunning[key].map { ($0 - began).seconds } ?? 0
        return StageSample(
            pipeline: snapshot.record.pipeline, stage: key.stage, ended: now, seconds: max(0, (now - began).seconds),
            earliest: max(0, earliest), size: nil, polls: resumes.polls[key] ?? 0, resumes: step.resumes,
            bytes: step.bytesSent + step.bytesReceived)
    }
}
