/// The reason why one step isn't going on right now, and when it will.
package struct BlockedStep: Sendable, Hashable {
    package let step: StepKey
    /// One sentence.
    package let reason: String
    /// The time when it goes on by itself; nil when something else must happen first.
    package let until: Timestamp?
    /// The last attempt and how it went, one sentence; nil when nothing failed.
    package let tried: String?
    /// Advice on what a person can do about it; nil when nothing is needed.
    package let advice: String?
    /// True if the rules for background work hold it back.
    package private(set) var isHeldBack = false

    init(step: StepKey, reason: String, until: Timestamp?, tried: String?, advice: String?) {
        self.step = step
        self.reason = reason
        self.until = until
        self.tried = tried
        self.advice = advice
    }

    /// Returns the same step, held back by the rules for background work: by the resume budget, or for a good moment.
    package func heldBack(until time: Timestamp, reason: String, advice: String) -> BlockedStep {
        var held = BlockedStep(
            step: step, reason: "it is held back: \(reason)", until: time, tried: tried, advice: self.advice ?? advice)
        held.isHeldBack = true
        return held
    }
}

/// What holds the steps of a job that have not ended, as a person asks for it.
package struct BlockedSteps: Sendable {
    private let job: JobSnapshot
    private let plan: Plan
    private let isOwned: Bool
    private let isToBeTaken: Bool

    /// - Parameters:
    ///   - isOwned: true if a living process has the job.
    ///   - isToBeTaken: true if one goes on with it without being told.
    package init(of job: JobSnapshot, in plan: Plan, isOwned: Bool, isToBeTaken: Bool = false) {
        self.job = job
        self.plan = plan
        self.isOwned = isOwned
        self.isToBeTaken = isToBeTaken
    }

    /// What holds each step that has not ended, in the order of the plan's stages; a running step is not held.
    package var all: [BlockedStep] {
        plan.stages.flatMap { stage in
            job.steps.filter { $0.key.stage == stage.id }.sorted { $0.key < $1.key }.compactMap { key, step in
                blocked(key, step, stage)
            }
        }
    }

    private func blocked(_ key: StepKey, _ step: StepRecord, _ stage: PlannedStage) -> BlockedStep? {
        let resume = "pipeline resume \(job.id)"
        if !isOwned, step.state.name != .unknown, let open = job.openSubmit(of: key) {
            return BlockedStep(
                step: key, reason: "it is not known whether the service took the submit: no response to it is known",
                until: nil, tried: "sent at \(open.lastSent ?? job.record.started) under the key \(open.key)",
                advice: job.reconcilingCommand)
        }
        switch step.state {
        case .running, .succeeded, .cancelled, .skipped: return nil
        case .pending: return pending(key, stage)
        case .unknown(_, let submit):
            return BlockedStep(
                step: key, reason: "it is not known whether the service took the submit: \(submit.reason)", until: nil,
                tried: "sent at \(submit.since) under the key \(submit.key)",
                advice: "look at the service, then pipeline resolve \(job.id) --stage \(key.stage)"
                    + (key.item.map { " --item \($0)" } ?? "") + " with "
                    + (SubmittedCaptures(stage).flags.map { "\($0), " } ?? "") + "--resubmit or --abandon")
        case .failed(let failure):
            return BlockedStep(
                step: key, reason: "it failed: \(failure.title)", until: nil, tried: failure.request,
                advice: failure.hint ?? resumption(after: key.stage))
        case .waiting(let attempt, let wake, let reason):
            let count = attempt.failures + attempt.noResponseCount
            let since = attempt.failingSince?.description ?? "a while"
            let tried = count == 0 ? nil : "\(count) \(count == 1 ? "try" : "tries") failed since \(since)"
            let needsPerson = wake == .resume || !isOwned && !isToBeTaken
            // It looks for a place again and again, and goes on once there is one.
            let time = isOwned && reason.kind != .full ? wake.time : nil
            let isPushed = reason.kind == .callback && job.hasCallback(key)
            let isPaused = reason.kind == .interrupted && job.cause == .paused
            let sentence =
                isPushed ? "a push for it has come" : isPaused ? "it was paused" : reason.kind.sentence
            return BlockedStep(
                step: key, reason: [sentence, reason.detail].compactMap { $0 }.joined(separator: ": "), until: time,
                tried: tried, advice: needsPerson ? resume : reason.kind.advice)
        }
    }

    /// The command that goes on with the job, and what it would submit again.
    private func resumption(after failed: String) -> String {
        "pipeline resume \(job.id)" + (job.submitsAgain(failed) ? ", which submits stage '\(failed)' again" : "")
    }

    private func pending(_ key: StepKey, _ stage: PlannedStage) -> BlockedStep {
        let open = stage.needs.filter { job.steps[StepKey(stage: $0)]?.state.isEnded != true }
        if let (failed, _) = job.failure {
            return BlockedStep(
                step: key, reason: "it does not begin because '\(failed)' failed", until: nil, tried: nil,
                advice: resumption(after: failed.stage))
        }
        let reason = open.isEmpty ? "it is about to begin" : "it needs " + open.joined(separator: ", ")
        return BlockedStep(step: key, reason: reason, until: nil, tried: nil, advice: nil)
    }
}

extension WaitReason.Kind {
    /// Advice on what a person can do about it while the job is owned; nil when nothing is needed.
    package var advice: String? {
        guard self == .full else { return nil }
        return
            "paused, suspended and unknown jobs keep their places; 'pipeline list' shows them, and 'pipeline resolve' frees "
            + "those of unknown ones"
    }

    /// The reason as a clause.
    package var sentence: String {
        switch self {
        case .poll: "the remote job has not ended; it is asked again"
        case .retry: "a try failed; it is tried again"
        case .refused: "the service asked to wait"
        case .closed: "the service is closed for everybody"
        case .full: "it may order nothing now"
        case .time: "it waits for a time"
        case .callback: "it waits for a push"
        case .settle: "it looks for its submit again"
        case .interrupted: "it was interrupted"
        case .noAnswer: "no answer came for as long as its retry policy allows"
        case .renewal: "it waits for fresh captures"
        case .secret: "a secret is missing"
        }
    }
}
