import PipelineCore

/// Measures a job by the changes that it commits, so that what is counted is exactly what is kept.
///
/// What calls of stages measure besides them comes by the ``NoteBook`` and goes with the next commit.
struct JobMeter {
    /// The submits as they were last committed.
    private var submits: [StepKey: SubmitRecord]
    /// The costs of steps as they were last committed.
    private var costs: [StepKey: Double]
    private let started: Timestamp
    private let pipeline: String

    init(_ job: JobSnapshot) {
        submits = job.submits
        costs = job.steps.compactMapValues(\.cost)
        started = job.record.started
        pipeline = job.record.pipeline
    }

    /// Returns what the changes of one input add to the counters.
    mutating func measurements(of changes: [JournalChange], in plan: Plan) -> Measurements {
        var all = Measurements()
        var steps: [StepKey: StepRecord] = [:]
        var failed: Set<StepKey> = []
        for change in changes {
            switch change {
            case .step(let key, let step):
                steps[key] = step
                count(step.cost, of: key, &all)
            case .submit(let key, let record): count(record, of: key, plan, &all)
            case .resume(let record): all.count(.resumes, [record.reason.rawValue])
            case .event(let event):
                if event.kind == .attemptFailed, let key = event.step { failed.insert(key) }
                count(event, event.step.flatMap { steps[$0] }, hasFailed: failed, plan, &all)
            case .fact, .file, .sample, .taken, .requested, .answered, .released, .ended, .callbacksTaken,
                .callbackJudged, .callbacksVoided, .reopened,
                .notification, .measured, .item:
                break
            }
        }
        return all
    }

    private mutating func count(_ cost: Double?, of key: StepKey, _ all: inout Measurements) {
        guard let cost, cost != costs[key] else { return }
        let more = cost - (costs.updateValue(cost, forKey: key) ?? 0)
        // What comes back is no cost: a counter never falls.
        if more > 0 { all.count(.cost, [pipeline], by: more) }
    }

    private func count(
        _ event: JobEvent, _ step: StepRecord?, hasFailed failed: Set<StepKey>, _ plan: Plan, _ all: inout Measurements
    ) {
        switch event.kind {
        case .jobSucceeded: countEnd("succeeded", event, &all)
        case .jobFailed: countEnd("failed", event, &all)
        case .jobCancelled: countEnd("cancelled", event, &all)
        case .attemptFailed: countAttempt("failed", event, step, plan, &all)
        case .stageSucceeded: finish("succeeded", event, step, plan, &all)
        case .stageFailed:
            // The attempt that it failed with has an event of its own, where it was one that could be repeated.
            finish(event.step.map(failed.contains) == true ? nil : "failed", event, step, plan, &all)
        case .stageCancelled: finish("cancelled", event, step, plan, &all)
        case .jobStarted, .jobResumed, .jobSuspended, .stageStarted, .stageWaiting, .stageResumed, .stageUnknown,
            .stageWarned, .stageSkipped, .transferProgress, .estimateChanged, .resumeDeferred, .notificationSent:
            break
        }
    }

    private func countEnd(_ result: String, _ event: JobEvent, _ all: inout Measurements) {
        all.count(.jobsEnded, [pipeline, result])
        all.observe(.jobDuration, [pipeline], event.time.seconds(since: started))
    }

    private func finish(
        _ result: String?, _ event: JobEvent, _ step: StepRecord?, _ plan: Plan, _ all: inout Measurements
    ) {
        if let result { countAttempt(result, event, step, plan, &all) }
        // The time of an item is part of its stage's.
        guard let key = event.step, key.item == nil, let began = step?.started else { return }
        all.observe(.stageDuration, [pipeline, key.stage], event.time.seconds(since: began))
    }

    private func countAttempt(
        _ result: String, _ event: JobEvent, _ step: StepRecord?, _ plan: Plan, _ all: inout Measurements
    ) {
        guard let key = event.step, let step, step.attempts > 0 else { return }
        // A repeated stage attempts nothing itself: its items do.
        if key.item == nil, plan.stage(key.stage)?.forEach != nil { return }
        all.count(.stageAttempts, [pipeline, key.stage, result])
    }

    private mutating func count(_ record: SubmitRecord, of key: StepKey, _ plan: Plan, _ all: inout Measurements) {
        let before = submits.updateValue(record, forKey: key)
        let service = plan.stage(key.stage)?.service ?? MetricNames.none
        let isOther = before?.phase != record.phase || before?.generation != record.generation
        switch record.phase {
        case .intent: break
        case .sending:
            // What was sent before this one, and could not be taken back.
            if record.sends > 1, before?.sends != record.sends { all.count(.submits, [service, "repeated"]) }
        case .submitted: if isOther { all.count(.submits, [service, "accepted"]) }
        case .refused: if isOther { all.count(.submits, [service, "refused"]) }
        case .unknown: if isOther { all.count(.submits, [service, "unknown"]) }
        }
    }
}
