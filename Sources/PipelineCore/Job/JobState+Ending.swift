import JSONPath

/// How an owner's work on a job ends: the job has ended, is cancelled, or is let go.
extension JobState {
    /// How a job stands of which nothing more is decided.
    enum Rest: Sendable, Hashable {
        case ended(JobPhase)
        /// A submit must be settled by a person.
        case unknown
        /// A step waits for a resume.
        case needsResume
    }

    /// How the job stands when nothing runs and nothing can be decided; nil while something is still to come.
    var resting: Rest? {
        let (counts, held) = (table.index.counts, table.index.heldCounts)
        // What waits for another stage is as far as that one.
        if counts.waiting > held.waiting || counts.running > 0 { return nil }
        if counts.manual > held.manual { return .needsResume }
        if counts.unknown > 0 { return .unknown }
        return .ended(outcome)
    }

    /// How the job has ended, or would if nothing more began.
    private var outcome: JobPhase {
        if table.index.counts.cancelled > 0 { return .cancelled }
        return table.index.failures.isEmpty ? .succeeded : .failed
    }

    mutating func begin(_ request: StopRequest) {
        // A cancellation is never weakened to a suspension; a suspension becomes a cancellation.
        if stop != .cancel, stop != .abandon { stop = request }
        if request == .abandon { isFinishing = true }
        // In order of their names, so that a simulation's seed fixes what happens.
        for key in calls.keys.sorted() { commands.append(.stop(key)) }
    }

    /// Ends the owner's work when nothing runs and nothing more comes by itself; false when it goes on.
    mutating func end() throws(IllegalTransition) -> Bool {
        switch stop {
        case .suspend(let cause): try letGo(cause, detail: nil)
        case .leave: try letGo(.interrupted, detail: nil, isLeft: true)
        case .cancel, .abandon: try cancelAll()
        case nil:
            switch resting {
            case .ended(let phase):
                // Never said of a job of which something has not ended: a mistake of ours leaves it as it was committed.
                if phase == .succeeded, table.index.openMainSteps > 0 {
                    throw IllegalTransition(state: .running, event: "jobSucceeded")
                }
                close(phase)
            case .unknown:
                table.record(.released(nil))
                commands.append(.finish(.unknown))
            case .needsResume:
                let (cause, detail) = snapshot.wantedResume
                try letGo(cause, detail: detail)
            case nil: return false
            }
        }
        return true
    }

    /// Ends the job.
    private mutating func close(_ phase: JobPhase) {
        let kind: JobEvent.Kind =
            switch phase {
            case .succeeded: .jobSucceeded
            case .cancelled: .jobCancelled
            default: .jobFailed
            }
        var data = JSONObject()
        if phase == .failed, let failure = snapshot.failure { data["error"] = failure.failure.json }
        table.record(.ended(table.moment.time))
        table.record(.requested(nil))
        table.publish(kind, data)
        commands += [.expect(.none), .finish(.ended(phase))]
    }

    /// Lets the job go unfinished: running steps are interrupted, so that the next owner finds nothing running. What
    /// `isLeft` goes on with the next background owner, as after a crash.
    mutating func letGo(_ cause: SuspensionCause, detail: String?, isLeft: Bool = false) throws(IllegalTransition) {
        let kind: WaitReason.Kind = cause == .secret ? .secret : .interrupted
        if table.index.openMainSteps > 0 || table.index.counts.running > 0 {
            for (key, step) in snapshot.steps.sorted(by: { $0.key < $1.key }) where step.state.name == .running {
                try table.change(key, .interrupted(WaitReason(kind, detail: detail)))
            }
        }
        var data: JSONObject = ["cause": .string(cause.rawValue)]
        if let detail { data["detail"] = .string(detail) }
        table.record(.released(isLeft ? nil : cause))
        if !isLeft { table.record(.requested(nil)) }
        table.publish(.jobSuspended, data)
        commands += [.expect(.none), .finish(.suspended(cause))]
    }

    /// Cancels every step that has not ended, at its service too; the stages of `finally` run after that. A second
    /// cancellation ends them as well.
    private mutating func cancelAll() throws(IllegalTransition) {
        for (key, step) in snapshot.steps.sorted(by: { $0.key < $1.key }) where !step.state.isEnded {
            guard let stage = table.plan.stage(key.stage), isFinishing || !stage.isFinal else { continue }
            let hasBegun = step.started != nil && (stage.forEach == nil || key.item != nil)
            if hasBegun, stop != .abandon {
                commands.append(.cancelAtService(key))
            } else {
                let warning = "its service was not told of the cancellation: what was begun there goes on"
                try table.change(key, .cancelled, warnings: hasBegun ? [warning] : [])
            }
        }
        if commands.contains(where: \.isQuestion) { return }
        if isFinishing || table.plan.finally.isEmpty { return close(outcome) }
        // Done as far as it was asked for: only another request ends `finally` too.
        table.record(.requested(nil))
        isFinishing = true
        stop = nil
        for stage in table.plan.finally { table.withIndex { $0.look(at: stage.id) } }
        commands.append(.continue)
    }

    // MARK: A person's word

    /// Settles an unknown submit; the job goes on with the next owner.
    mutating func resolve(_ key: StepKey, _ resolution: Resolution) throws(IllegalTransition) {
        guard var submit = snapshot.submits[key], let step = table.step(key) else {
            throw IllegalTransition(state: .pending, event: "resolved", step: key)
        }
        switch resolution {
        case .found(let captures):
            submit.phase = .submitted
            try table.change(key, .resolved) { $0.captures = step.captures.merging(captures) }
        case .resubmit:
            submit = submit.nextGeneration(jobKey: snapshot.record.key, step: key)
            try table.change(key, .resolved)
        case .abandon:
            // It may be there all the same: a later attempt must settle it, not send it blindly.
            try table.change(key, .abandoned(.givenUp))
        }
        table.record(.submit(key, submit))
        // A job that stopped at an unknown submit has no cause yet. In the background its owner takes it up again; else
        // a person does.
        table.record(.released(snapshot.cause ?? (snapshot.mode == .background ? nil : .interrupted)))
    }
}

extension JobCommand {
    /// Whether its answer is to be had before more is decided.
    package var isQuestion: Bool {
        switch self {
        case .prepare, .evaluateItems, .evaluateWarnings, .enterResume, .enterAuthentication, .evaluateCondition,
            .attend, .cancelAtService, .continue:
            true
        case .commit, .call, .stop, .deliver, .expect, .publish, .wait, .park, .finish: false
        }
    }
}

extension StepFailure {
    /// The failure of a step whose unknown submit a person gave up.
    static let givenUp = StepFailure("the submit was given up by 'pipeline resolve --abandon'")
}

extension JobSnapshot {
    /// Whether nothing of the job is left to do but to end it.
    package func isOver(in plan: Plan, at time: Timestamp) -> Bool {
        let table = JobTable(self, plan: plan, values: JobValues(environment: environment), at: JobMoment(time))
        var state = JobState(table, settings: JobState.Settings(), marks: EstimateMarks())
        return state.isOver()
    }

    /// Whether it has failed because a person gave a submit up: only a person's `retry` begins that again.
    public var wasGivenUp: Bool { ended != nil && failure?.failure == .givenUp }

    /// Why a job is let go of which a step waits for a resume, and what is missing.
    public var wantedResume: (cause: SuspensionCause, detail: String?) {
        let reasons = steps.sorted { $0.key < $1.key }.compactMap { _, step -> WaitReason? in
            if case .waiting(_, .resume, let reason) = step.state { reason } else { nil }
        }
        let secret = reasons.first { $0.kind == .secret }
        return (secret == nil ? .noNetwork : .secret, (secret ?? reasons.first)?.detail)
    }
}
