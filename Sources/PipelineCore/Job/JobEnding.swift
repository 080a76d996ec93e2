import JSONPath

/// The state of a job of which nothing more is decided.
enum JobRest: Sendable, Hashable {
    case ended(JobPhase)
    /// A submit must be reconciled by a person.
    case unknown
    /// A step waits for a resume.
    case needsResume
}

extension StepIndex {
    /// Returns the state of the job when nothing runs and nothing can be decided; nil while something is still to come.
    ///
    /// - Parameter waitsInVain: the number of waits that end only with a person's help.
    func rest(besides waitsInVain: Int) -> JobRest? {
        let held = heldCounts
        // What waits for another stage is as far as that one.
        if counts.waiting > held.waiting + waitsInVain || counts.running > 0 { return nil }
        if counts.manual > held.manual { return .needsResume }
        if counts.unknown > 0 { return .unknown }
        return .ended(outcome)
    }

    /// The way in which the job has ended, or would if nothing more began.
    var outcome: JobPhase {
        if counts.cancelled > 0 { return .cancelled }
        return failures.isEmpty ? .succeeded : .failed
    }
}

extension JobTable {
    /// The state of the job when nothing runs and nothing can be decided; nil while something is still to come.
    var rest: JobRest? { index.rest(besides: waitsInVain) }

    /// The number of steps that wait for a place at a service while unknown submits of this very job have all of them.
    private var waitsInVain: Int {
        guard index.counts.full > 0, index.counts.unknown > 0 else { return 0 }
        let services = plan.definition.services.filter { service in
            guard let limit = service.limits?.computations,
                let places = limit.constant ?? (try? limit.value(in: documentScope))
            else { return false }
            let unknown = index.entries.values.filter { $0.stage.service == service.name }.map(\.counts.unknown)
            return unknown.reduce(0, +) >= places
        }
        let names = Set(services.map(\.name))
        // What is held as well is counted there.
        return index.entries.values.filter { entry in
            entry.stage.service.map(names.contains) == true && !index.isHeld(entry.stage.id)
        }.reduce(0) { $0 + $1.counts.full }
    }
}

/// The end of an owner's work on a job, row by row: the job has ended, is cancelled, or is let go.
enum JobEnding {
    /// Ends the job.
    static func close(_ phase: JobPhase, in table: inout JobTable) -> [JobCommand] {
        let kind: JobEvent.Kind =
            switch phase {
            case .succeeded: .jobSucceeded
            case .cancelled: .jobCancelled
            default: .jobFailed
            }
        var data = JSONObject()
        if phase == .failed, let failure = table.snapshot.failure { data["error"] = failure.failure.json }
        table.recordItem(ItemOutcome(endOf: table.snapshot, in: table.plan, at: table.moment.time))
        table.record(.ended(table.moment.time))
        table.record(.requested(nil))
        table.publish(kind, data)
        return [.expect(.none), .finish(.ended(phase))]
    }

    /// Leaves a job alone of which a submit must be reconciled by a person. What waits for a place that such a submit has
    /// begins afresh after that: else whoever finds the job would take it for one that goes on by itself.
    static func leaveUnknown(in table: inout JobTable) throws(IllegalTransition) -> [JobCommand] {
        if table.index.counts.full > 0 {
            let waiting = table.snapshot.steps.filter { $0.value.state.waitsForPlace }
            for key in waiting.keys.sorted() { try table.change(key, .restarted) { $0.started = nil } }
        }
        table.recordItem(ItemOutcome(unknownIn: table.snapshot))
        table.record(.released(nil))
        return [.finish(.unknown)]
    }

    /// Lets the job go unfinished: running steps are interrupted, so that the next owner finds nothing running. What
    /// `isLeft` goes on with the next background owner, as after a crash.
    static func letGo(
        _ cause: SuspensionCause, detail: String?, isLeft: Bool = false, in table: inout JobTable
    ) throws(IllegalTransition) -> [JobCommand] {
        // Nothing is there to go on with: a person must say what became of the submit.
        if table.rest == .unknown { return try leaveUnknown(in: &table) }
        let kind: WaitReason.Kind = cause == .secret ? .secret : .interrupted
        if table.index.openMainSteps > 0 || table.index.counts.running > 0 {
            let running = table.snapshot.steps.filter { $0.value.state.name == .running }
            for key in running.keys.sorted() {
                try table.change(key, .interrupted(WaitReason(kind, detail: detail)))
            }
        }
        let changes = table.snapshot.letGo(cause, detail: detail, isLeft: isLeft, at: table.moment)
        for change in changes { table.record(change) }
        return [.expect(.none), .finish(.suspended(cause))]
    }

    /// Ends a step whose service was told of the cancellation, or could not be told, for the reason given. One of a job that
    /// has ended stays as it is, but for what it had left there.
    static func cancelled(_ key: StepKey, _ problem: String?, in table: inout JobTable) throws(IllegalTransition) {
        let warnings = problem.map { ["the service could not be told of the cancellation: \($0)"] } ?? []
        if table.snapshot.ended != nil {
            for warning in warnings { table.publish(.stageWarned, ["message": .string(warning)], of: key) }
        } else {
            guard table.step(key)?.state.isEnded == false else { return }
            try table.change(key, .cancelled, warnings: warnings)
        }
        if problem == nil, table.plan.stage(key.stage)?.stage.cancelsWork == true {
            Restart.forgetWork(of: key, in: &table)
        }
    }

    /// Fails a step for good, before it began or without a word of its stage.
    static func fail(_ key: StepKey, _ failure: StepFailure, in table: inout JobTable) throws(IllegalTransition) {
        guard let stage = table.plan.stage(key.stage), let state = table.step(key)?.state else { return }
        // A step that never began was not yet asked whether its failure matters.
        let setting = stage.continuesOnFailure
        let tolerates = setting.constant == nil && (try? setting.value(in: table.currentScope(for: key))) == true
        let failed = StepEvent.tryFailed(AttemptFailure(failure, kind: .definite), stage.retry, random: 0)
        let event = state == .pending ? .refused(failure) : failed
        try table.change(key, event) { if tolerates { $0.toleratesFailure = true } }
    }

    /// Cancels every step that has not ended, but those of `finally` as long as the others are cancelled; what has begun at
    /// a service is to be cancelled there first, by the commands.
    static func cancelSteps(
        finallyToo: Bool, tellsServices: Bool, in table: inout JobTable
    ) throws(IllegalTransition) -> [JobCommand] {
        var commands: [JobCommand] = []
        for key in table.snapshot.steps.filter({ !$0.value.state.isEnded }).keys.sorted() {
            guard let stage = table.plan.stage(key.stage), finallyToo || !stage.isFinal else { continue }
            // One that is to begin again may still have at its service what it had begun.
            let step = table.step(key)
            let isTouched = step?.started != nil || step?.checkpoint != nil
            let hasBegun = isTouched && (stage.forEach == nil || key.item != nil)
            if hasBegun, tellsServices {
                commands.append(.cancelAtService(key))
            } else {
                let warning = "its service was not told of the cancellation: what was begun there goes on"
                try table.change(key, .cancelled, warnings: hasBegun ? [warning] : [])
            }
        }
        return commands
    }
}

extension Resolution {
    /// Settles an unknown submit; the job goes on with the next owner.
    func perform(on key: StepKey, in table: inout JobTable) throws(IllegalTransition) {
        guard var submit = table.snapshot.submits[key], let step = table.step(key) else {
            throw IllegalTransition(state: .pending, event: "resolved", step: key)
        }
        // The time that a person took is not the step's: a deadline that has passed counts again, from when it goes on.
        let isPast = table.deadline(of: key).map { $0 <= table.moment.time } ?? false
        let started = isPast ? nil : step.started
        switch self {
        case .found(let captures):
            submit.phase = .submitted
            try table.change(key, .resolved) {
                $0.captures = step.captures.merging(captures)
                $0.started = started
            }
        case .resubmit:
            submit = submit.nextGeneration(of: table.snapshot.record.submitName(of: key))
            try table.change(key, .resolved) { $0.started = started }
        case .lookUp:
            submit.phase = .sending
            submit.misses = 0
            try table.change(key, .resolved) { $0.started = started }
        case .abandon:
            // It may be there all the same: a later attempt must settle it, not send it blindly.
            try table.change(key, .abandoned(.givenUp))
        }
        table.record(.submit(key, submit))
        // A job that stopped at an unknown submit has no cause yet. In the background its owner takes it up again; else
        // a person does.
        let cause: SuspensionCause? = table.snapshot.mode == .background ? nil : .interrupted
        table.recordItem(ItemOutcome(suspended: table.snapshot))
        table.record(.released(table.snapshot.cause ?? cause))
    }
}

extension JobCommand {
    /// True if its answer is to be had before more is decided.
    package var isQuestion: Bool {
        switch self {
        case .prepare, .evaluateItems, .evaluateWarnings, .enterResume, .enterAuthentication, .evaluateCondition,
            .attend, .cancelAtService, .continue:
            true
        case .commit, .call, .stop, .deliver, .expect, .publish, .wait, .park, .finish: false
        }
    }
}

extension StepState {
    /// True if it waits for one of a service's places.
    var waitsForPlace: Bool {
        if case .waiting(_, _, let reason) = self { reason.kind == .full } else { false }
    }
}

extension SuspensionCause {
    /// The cause as it stands with the job: one that only a batch has stands with the batch.
    fileprivate var ofJob: SuspensionCause {
        switch self {
        case .tooManyFailures, .sameFailure, .spent: .paused
        case .interrupted, .paused, .noNetwork, .crashed, .secret, .extension: self
        }
    }
}

extension StepFailure {
    /// The failure of a step whose unknown submit a person gave up.
    static let givenUp = StepFailure("the submit was given up by 'pipeline resolve --abandon'")
}

extension JobSnapshot {
    /// What is written when a job of which nothing runs is let go for a cause. What `isLeft` goes on with the next
    /// background owner, as after a crash.
    ///
    /// A pause is done by that, except where another program is to go on: that one does it. A cancellation holds until it is
    /// done, by whoever takes the job up.
    package func letGo(
        _ cause: SuspensionCause, detail: String? = nil, isLeft: Bool = false, at moment: JobMoment
    ) -> [JournalChange] {
        var data: JSONObject = ["cause": .string(cause.rawValue)]
        if let detail { data["detail"] = .string(detail) }
        let event = JobEvent(
            sequence: sequence + 1, time: moment.time, kind: .jobSuspended, job: record.id, pipeline: record.pipeline,
            data: moment.redactor.redact(.object(data)).object ?? [:])
        if isLeft { return [.released(nil), .event(event)] }
        var changes: [JournalChange] = record.item == nil ? [] : [.item(ItemOutcome(suspended: self))]
        changes.append(.released(cause.ofJob))
        if cause != .extension { changes.append(.answered(.pause)) }
        return changes + [.event(event)]
    }

    /// Returns whether nothing of the job is left to do but to end it.
    package func isOver(in plan: Plan, at time: Timestamp) -> Bool {
        var state = JobState(table(in: plan, at: time), settings: JobSettings(), marks: EstimateMarks())
        return state.isOver()
    }

    /// True if it has failed because a person gave a submit up: only a person's `retry` begins that again.
    package var wasGivenUp: Bool { ended != nil && failure?.failure == .givenUp }

    /// The reason why a job is let go of which a step waits for a resume, and what is missing.
    package var wantedResume: (cause: SuspensionCause, detail: String?) {
        let reasons = steps.sorted { $0.key < $1.key }.compactMap { _, step -> WaitReason? in
            if case .waiting(_, .resume, let reason) = step.state { reason } else { nil }
        }
        let secret = reasons.first { $0.kind == .secret }
        return (secret == nil ? .noNetwork : .secret, (secret ?? reasons.first)?.detail)
    }
}
