import JSONPath
import PipelineCore

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// What the past says of steps, and what they add to it.
extension JobExecutor {
    /// What is known of a step's duration before it begins.
    func outlook(of key: StepKey, _ stage: PlannedStage) -> StageOutlook {
        let guess = stage.estimate.flatMap { estimate in
            estimate.constant ?? (try? estimate.value(in: scope(for: key)))
        }?.seconds
        return StageOutlook(samples: past[key.stage] ?? [], size: size(before: key, stage), guess: guess)
    }

    /// What a remote job is about, as far as the engine can see: the bytes that its job has sent before.
    private func size(before key: StepKey, _ stage: PlannedStage) -> Double? {
        guard case .remoteJob = stage.stage.work else { return nil }
        let sent = snapshot.steps.filter { $0.key.stage != key.stage && $0.value.state.name == .succeeded }
            .reduce(Int64(0)) { $0 + $1.value.bytesSent }
        return sent > 0 ? Double(sent) : nil
    }

    /// Foretells how long a step will take that begins, and how long the job still will.
    func foretell(_ key: StepKey, _ stage: PlannedStage) {
        guard resumes.forecasts[key] == nil, isWorthTelling(key, stage), snapshot.steps[key]?.attempts ?? 0 <= 1 else {
            return
        }
        let elapsed = (ports.clock.now - (snapshot.steps[key]?.started ?? ports.clock.now)).seconds
        guard let estimate = Estimate(outlook(of: key, stage), elapsed: elapsed) else { return }
        if elapsed < 1 { resumes.forecasts[key] = (estimate.quantile(0.5), estimate.quantile(0.9)) }
        tell(estimate.data, of: key)
        if let whole = jobEstimate { tell(whole.data, of: nil) }
    }

    /// Nobody waits for what takes less than half a second.
    private func isWorthTelling(_ key: StepKey, _ stage: PlannedStage) -> Bool {
        let last = (past[key.stage] ?? []).suffix(3)
        return last.isEmpty ? stage.estimate != nil : last.contains { $0.seconds >= 0.5 }
    }

    private func tell(_ data: JSONObject, of step: StepKey?) {
        ports.observe(
            JobEvent(
                sequence: nil, time: ports.clock.now, kind: .estimateChanged, job: snapshot.record.id,
                pipeline: snapshot.record.pipeline, step: step, attempt: step.flatMap { snapshot.steps[$0]?.attempts },
                data: data))
    }

    /// The time left of the whole job.
    private var jobEstimate: JobEstimate? {
        JobEstimate(
            snapshot, plan: plan, samples: past, at: ports.clock.now,
            words: { [reports] in reports.lastWords(of: $0) }, heldUntil: resumes.held)
    }

    /// The time until the job's end as it can be promised: it moves when something is known anew, not as time passes.
    var endEstimate: JobEstimate? {
        JobEstimate(
            snapshot, plan: plan, samples: past, at: ports.clock.now,
            words: { [reports] in reports.lastWords(of: $0) }, heldUntil: resumes.held, isPromise: true)
    }

    /// What a step that has just succeeded adds to the history; nil for one that says nothing about the next: one
    /// that was tried again, a whole of many items, or one that another process began.
    func sample(of key: StepKey, _ step: StepRecord, at now: Timestamp) -> StageSample? {
        guard step.state.name == .succeeded, let began = step.started, resumes.since[key] != nil, step.attempts <= 1,
            let stage = plan.stage(key.stage)
        else { return nil }
        let earliest = resumes.lastRunning[key].map { ($0 - began).seconds } ?? 0
        let report = reports.report(of: key)
        let left = report.map { max((now - $0.time).seconds, 0.01) }
        let passed = report.map { ($0.time - began).seconds } ?? 0
        let sample = StageSample(
            pipeline: snapshot.record.pipeline, stage: key.stage, ended: now, seconds: max(0, (now - began).seconds),
            earliest: max(0, earliest), size: size(before: key, stage), polls: resumes.polls[key] ?? 0,
            resumes: step.resumes, bytes: isRemoteJob(key) ? 0 : step.bytesSent + step.bytesReceived,
            p50: resumes.forecasts[key]?.p50,
            p90: resumes.forecasts[key]?.p90,
            remainingError: left.flatMap { left in report?.secondsLeft.map { log(left / max($0, 0.05)) } },
            progressError: left.flatMap { left in
                report?.share.flatMap { share in
                    share > 0.02 && share < 1 && passed > 0 ? log(left / (passed * (1 - share) / share)) : nil
                }
            })
        shelf?.add(sample)
        return sample
    }
}
