import JSONPath

/// The rules of work that no person waits for: resumes are entered, what follows may be deferred, discretionary steps
/// wait for a good time. What ended is journaled before any of it.
extension JobState {
    /// Whether the rules of the background hold for the job, unless somebody watches it. What a person cancelled is
    /// brought to its end, `finally` with it, and never held back.
    var isUnattended: Bool {
        !isFinishing && settings.interactivity.isHeld(by: table.plan.definition.background, mode: snapshot.mode)
    }

    /// Whether the rules hold at this moment.
    var isLimited: Bool { settings.hasLimiter && isUnattended && !table.moment.isWatched }

    var budget: ResumeBudget { ResumeBudget(table.plan.definition.background.budget, in: table.documentScope) }

    private func tolerance(of wait: Duration) -> Duration {
        let setting = table.plan.definition.background.tolerance
        return (setting.constant ?? (try? setting.value(in: table.documentScope)) ?? .duration(.zero)).length(of: wait)
    }

    /// Notes that control came back because of a step; false when that belongs to the resume under way.
    @discardableResult mutating func openResume(_ key: StepKey, _ reason: ResumeReason) -> Bool {
        watch.open(key, reason, waited: marks.waited(key, at: table.moment.time))
    }

    /// Has the resume under way entered in the ledger; true when that is to be waited for.
    mutating func enterResume() -> Bool {
        guard let (step, reason, waited) = watch.takeUnentered(), isLimited else { return false }
        commands.append(
            .enterResume(
                ResumeRequest(
                    pipeline: snapshot.record.pipeline, job: snapshot.record.id, step: step, reason: reason,
                    budget: budget, tolerance: tolerance(of: waited), mustBeginBy: table.mustResumeBy(step))))
        return true
    }

    /// Holds what follows a resume back for as long as the ledger says.
    mutating func take(_ decision: ResumeDecision) {
        table.record(.resume(decision.record))
        let due = table.withIndex { [time = table.moment.time] in $0.dueSteps(at: time) }
        guard decision.isDeferred, let step = decision.record.step, !due.isEmpty || hasDecision else { return }
        watch.heldUntil = decision.start
        publishDeferral(of: step, until: decision.start, delay: decision.delay, decision.rationale)
    }

    /// Has the round trip for credentials of a step that is called entered: always a resume of its own. Its delay is in
    /// the ledger, so that what comes after waits the longer; the exchange itself is under way and is not held back.
    mutating func authenticate(_ key: StepKey) {
        let request = ResumeRequest(
            pipeline: snapshot.record.pipeline, job: snapshot.record.id, step: key, reason: .authentication,
            budget: budget, mustBeginBy: table.mustResumeBy(key))
        commands.append(.enterAuthentication(key, isLimited ? request : nil))
    }

    private mutating func publishDeferral(
        of step: StepKey, until: Timestamp, delay: Duration, _ reason: String
    ) {
        notifications.mayHaveMoved = true
        table.publish(
            .resumeDeferred,
            [
                "until": .string(until.description), "delay": .number(JSONNumber(delay.seconds)),
                "reason": .string(reason),
            ], of: step, isAttempt: false)
    }

    /// Lets a discretionary step begin, or asks again later.
    mutating func take(_ evaluation: ConditionEvaluation, on key: StepKey) {
        table.withIndex { index in
            index.putBack(key, limit: nil)
            index.look(at: key.stage)
        }
        guard !evaluation.isGood, let again = evaluation.askAgain else {
            watch.conditions[key] = nil
            watch.approved.insert(key)
            return
        }
        if watch.conditions.updateValue(again, forKey: key) == nil {
            publishDeferral(of: key, until: again, delay: again - table.moment.time, evaluation.rationale)
        }
    }

    /// Tells the limiter of the end of a step's wait.
    mutating func expectEnd(of key: StepKey, _ wake: WakeCondition, _ reason: WaitReason) {
        let now = table.moment.time
        marks.begin(key, at: now)
        if reason.kind == .poll { marks.steps[key]?.lastRunning = now }
        guard isLimited, let due = wake.time else { return }
        commands.append(
            .expect(
                .resume(
                    .timer(
                        job: snapshot.record.id, step: key, due: due, tolerance: tolerance(of: due - now)))))
    }

    /// A person attends to the job: delays begin anew. It is journaled where one was in force, or in any case.
    mutating func attend(isJournaled: Bool) {
        let record = ResumeRecord.attendance(
            of: snapshot.record.id, pipeline: snapshot.record.pipeline, at: table.moment.time)
        commands.append(.attend(record, isJournaled: isJournaled))
    }

    /// Why a step whose time has come gets control back.
    func reason(of key: StepKey) -> ResumeReason? {
        guard case .waiting(_, let wake, let reason) = table.step(key)?.state else { return nil }
        if wake.endsWithCallback, snapshot.hasCallback(key) { return .push }
        // Nothing came back: what was to be done then is still to be done.
        if reason.kind == .closed || reason.kind == .full { return nil }
        return ResumeReason(endOf: reason.kind)
    }

    /// Whether the end of a call is control that comes back from outside.
    func countsEnd(of stage: PlannedStage, _ end: StepEnd) -> Bool {
        guard stage.stage.work == .transfer else { return false }
        switch end {
        case .stopped: return false
        case .failed(let failed): if case .held = failed.kind { return false } else { return true }
        case .finished, .waiting, .unknown: return true
        }
    }
}

extension Interactivity {
    /// The data of the event by which a job begins or goes on.
    func data(_ mode: JobMode) -> JSONObject { ["attended": .bool(mode == .attached && self == .attended)] }
}
