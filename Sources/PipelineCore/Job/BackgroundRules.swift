import JSONPath

/// The rules of a job that no person waits for: resumes are entered, what follows may be deferred, discretionary steps
/// wait for a good time. What ended is journaled before any of it.
struct BackgroundRules: Sendable {
    /// The knowledge of getting control back.
    var watch: ResumeWatch
    /// The answer to whether a person waits for the command that runs the job.
    let interactivity: Interactivity
    /// True if background work is limited at all.
    let hasLimiter: Bool
    /// Set once the job was cancelled: it is brought to its end, `finally` with it, and never held back.
    var isFinishing = false

    /// Returns whether the rules hold for the job, unless somebody watches it.
    func isUnattended(_ table: JobTable) -> Bool {
        !isFinishing && interactivity.isHeld(by: table.plan.definition.background, mode: table.snapshot.mode)
    }

    /// Returns whether the rules hold at this moment.
    func isLimited(_ table: JobTable) -> Bool { hasLimiter && isUnattended(table) && !table.moment.isWatched }

    /// Returns whether a wait is over before it begins, and its end is no other's business: no callback is to be taken, and
    /// the rules have no say.
    func isOver(_ wake: WakeCondition, _ reason: WaitReason, of key: StepKey, in table: JobTable) -> Bool {
        guard !isLimited(table), !reason.kind.startsNewTry, let due = wake.time else { return false }
        return due <= table.moment.time && !table.snapshot.hasCallback(key)
    }

    /// Has the resume under way entered in the ledger; nil when there is none to enter.
    mutating func enterResume(_ table: inout JobTable) -> JobCommand? {
        guard let (step, reason, waited) = watch.takeUnentered(), isLimited(table) else { return nil }
        return .enterResume(request(step, reason, tolerance: table.tolerance(of: waited), in: &table))
    }

    /// Has the round trip for credentials of a step that is called entered: always a resume of its own. Its delay is in
    /// the ledger, so that what comes after waits the longer; the exchange itself is under way and is not held back.
    func enterAuthentication(of key: StepKey, in table: inout JobTable) -> JobCommand {
        .enterAuthentication(key, isLimited(table) ? request(key, .authentication, in: &table) : nil)
    }

    private func request(
        _ step: StepKey, _ reason: ResumeReason, tolerance: Duration = .zero, in table: inout JobTable
    ) -> ResumeRequest {
        ResumeRequest(
            pipeline: table.snapshot.record.pipeline, job: table.snapshot.record.id, step: step, reason: reason,
            budget: table.budget, tolerance: tolerance, mustBeginBy: table.mustResumeBy(step))
    }

    /// A shorter wait is told to nobody: it is over before it is read.
    private static let toldDeferral = Duration.seconds(1)

    /// Holds what follows a resume back for as long as the ledger says; returns whether it does.
    mutating func holdBack(after decision: ResumeDecision, in table: inout JobTable) -> Bool {
        guard decision.isDeferred, let step = decision.record.step else { return false }
        watch.heldUntil = decision.start
        if decision.start - decision.asked >= Self.toldDeferral {
            publishDeferral(of: step, until: decision.start, delay: decision.delay, decision.rationale, in: &table)
        }
        return true
    }

    /// Returns what is to be asked of a step that could begin: whether now is a good time.
    mutating func question(
        about key: StepKey, _ stage: PlannedStage, in table: inout JobTable
    ) -> Question {
        guard isLimited(table), stage.forEach == nil || key.item != nil,
            stage.isDiscretionary(in: table.currentScope(for: key)), watch.approved.remove(key) == nil
        else { return .none }
        let limit = table.mustBeginBy(key)
        if let again = watch.conditions[key], again > table.moment.time { return .later(limit: limit) }
        let question = table.snapshot.momentQuestion(for: stage, budget: table.budget, mustBeginBy: limit)
        return .now(.evaluateCondition(key, question))
    }

    /// The question that is to be asked before a discretionary step begins.
    enum Question {
        /// Nothing: it begins.
        case none
        case now(JobCommand)
        /// It was asked, and will be again: until then it stays where it is.
        case later(limit: Timestamp?)
    }

    /// Lets a discretionary step begin, or asks again later; returns whether that was said.
    mutating func take(_ evaluation: ConditionEvaluation, on key: StepKey, in table: inout JobTable) -> Bool {
        table.withIndex { index in
            index.putBack(key, limit: nil)
            index.look(at: key.stage)
        }
        guard !evaluation.isGood, let again = evaluation.askAgain else {
            watch.conditions[key] = nil
            watch.approved.insert(key)
            return false
        }
        guard watch.conditions.updateValue(again, forKey: key) == nil else { return false }
        publishDeferral(
            of: key, until: again, delay: again - table.moment.time, evaluation.rationale, in: &table)
        return true
    }

    private func publishDeferral(
        of step: StepKey, until: Timestamp, delay: Duration, _ reason: String, in table: inout JobTable
    ) {
        table.publish(
            .resumeDeferred,
            [
                "until": .string(until.description), "delay": .number(JSONNumber(delay.seconds)),
                "reason": .string(reason),
            ], of: step, isAttempt: false)
    }

    /// Tells the limiter of the end of a step's wait; nil where nobody is to know.
    func expectation(of key: StepKey, _ wake: WakeCondition, in table: JobTable) -> JobCommand? {
        guard isLimited(table), let due = wake.time else { return nil }
        let tolerance = table.tolerance(of: due - table.moment.time)
        return .expect(.resume(.timer(job: table.snapshot.record.id, step: key, due: due, tolerance: tolerance)))
    }

    /// Tells the limiter of the end of a transfer that begins.
    func expectation(ofTransfer key: StepKey, in table: JobTable) -> JobCommand? {
        isLimited(table) ? .expect(.resume(.transfer(job: table.snapshot.record.id, step: key))) : nil
    }

    /// A person attends to the job: delays begin again. It is journaled where one was in force, or in any case.
    func attended(isJournaled: Bool, in table: JobTable) -> JobCommand {
        let record = ResumeRecord.attended(
            of: table.snapshot.record.id, pipeline: table.snapshot.record.pipeline, at: table.moment.time)
        return .attend(record, isJournaled: isJournaled)
    }
}

extension JobTable {
    fileprivate var budget: ResumeBudget { ResumeBudget(plan.definition.background.budget, in: documentScope) }

    fileprivate func tolerance(of wait: Duration) -> Duration {
        let setting = plan.definition.background.tolerance
        return (setting.constant ?? (try? setting.value(in: documentScope)) ?? .duration(.zero)).length(of: wait)
    }

    /// Returns why a step whose time has come gets control back.
    func resumeReason(of key: StepKey) -> ResumeReason? {
        guard case .waiting(_, let wake, let reason) = step(key)?.state else { return nil }
        if wake.endsWithCallback, snapshot.hasCallback(key) { return .push }
        // Nothing came back: what was to be done then is still to be done.
        if reason.kind == .closed || reason.kind == .full { return nil }
        return ResumeReason(endOf: reason.kind)
    }
}

extension StepEnd {
    /// Returns whether the end of a call is control that comes back from outside.
    func isResume(of stage: PlannedStage) -> Bool {
        guard stage.stage.work == .transfer else { return false }
        switch self {
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
