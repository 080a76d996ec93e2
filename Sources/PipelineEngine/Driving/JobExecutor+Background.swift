import JSONPath
import PipelineCore

/// The rules of work that no person waits for: resumes are entered, what follows may be deferred, discretionary steps
/// wait for a good moment. What ended is journaled before any of it.
extension JobExecutor {
    /// Where the job asks whether it may go on; nil while the rules don't hold.
    var backgroundGate: (any BackgroundGate)? {
        isUnattended && !ports.isWatched(snapshot.record.id) ? ports.gate : nil
    }

    private var budget: ResumeBudget { ResumeBudget(plan.definition.background.budget, in: documentScope) }

    /// Notes that the engine got control back because of a step; false when that belongs to the resume under way.
    @discardableResult func gotControl(_ key: StepKey, _ reason: ResumeReason) -> Bool { resumes.open(key, reason) }

    func isRemoteJob(_ key: StepKey) -> Bool {
        if case .remoteJob = plan.stage(key.stage)?.stage.work { true } else { false }
    }

    /// Whether the end of a call is control that comes back from outside.
    func countsEnd(of stage: PlannedStage, _ result: Result<StageOutcome<[UInt8]>, StageFailure>) -> Bool {
        guard stage.stage.work == .transfer else { return false }
        if case .failure(.failed) = result { return true }
        if case .success = result { return true }
        return false
    }

    /// The step by which a restart is counted: the first that was under way, else what begins next of a job that stood
    /// between two stages, held back for instance. Nil for a job that never began.
    var restartedStep: StepKey? {
        if let waiting = snapshot.steps.filter({ $0.value.state.name == .waiting }).map(\.key).min() { return waiting }
        guard snapshot.steps.values.contains(where: { $0.started != nil }) else { return nil }
        return JobMachine(plan: plan, rooms: rooms).decisions(for: snapshot, at: ports.clock.now).first?.step
    }

    func noteLaunch(of key: StepKey, _ stage: PlannedStage) {
        resumes.since[key] = ports.clock.now
        foretell(key, stage)
        switch stage.stage.work {
        case .transfer:
            if let gate = backgroundGate {
                let expected = ExpectedResume.transfer(job: snapshot.record.id, step: key)
                resumes.announcements.append { await gate.expect(expected) }
            }
        case .remoteJob(let submits, _):
            if !submits || snapshot.submits[key]?.phase == .submitted { resumes.inside.insert(key) }
        case .local, .wait: resumes.inside.insert(key)
        }
    }

    func noteParking(of key: StepKey, _ wake: WakeCondition, _ reason: WaitReason) async {
        let now = ports.clock.now
        resumes.since[key] = now
        if reason.kind == .poll { resumes.lastRunning[key] = now }
        guard let gate = backgroundGate, let due = wake.time else { return }
        await gate.expect(
            .timer(job: snapshot.record.id, step: key, due: due, tolerance: tolerance(of: due - now)))
    }

    private func tolerance(of wait: Duration) -> Duration {
        let setting = plan.definition.background.tolerance
        return (setting.constant ?? (try? setting.value(in: documentScope)) ?? .duration(.zero)).length(of: wait)
    }

    /// Enters the resume under way in the ledger, and holds what follows back for as long as it says.
    func enterResume() async throws(JournalFailure) {
        for announce in resumes.takeAnnouncements() { await announce() }
        guard let (step, reason) = resumes.unentered else { return }
        resumes.unentered = nil
        guard let gate = backgroundGate else { return }
        let now = ports.clock.now
        let waited = resumes.since[step].map { now - $0 } ?? .zero
        let decision = await gate.enter(
            ResumeRequest(
                pipeline: snapshot.record.pipeline, job: snapshot.record.id, step: step, reason: reason,
                budget: budget, tolerance: tolerance(of: waited), mustBeginBy: mustBeginBy(step)))
        var changes: [JournalChange] = [.resume(decision.record)]
        if decision.isDeferred, !JobMachine(plan: plan, rooms: rooms).decisions(for: snapshot, at: now).isEmpty {
            resumes.heldUntil = decision.start
            telling.mayHaveMoved = true
            changes.append(deferral(of: step, until: decision.start, delay: decision.delay, decision.rationale))
        }
        try await commit(changes)
    }

    /// Enters the round trip for credentials of a step that is called: always a resume of its own. Its delay is in the
    /// ledger, so that what comes after waits the longer; the exchange itself is under way and is not held back.
    func countAuthentication(of key: StepKey) async throws(JournalFailure) {
        var changes: [JournalChange] = []
        if let gate = backgroundGate {
            let decision = await gate.enter(
                ResumeRequest(
                    pipeline: snapshot.record.pipeline, job: snapshot.record.id, step: key, reason: .authentication,
                    budget: budget, mustBeginBy: mustBeginBy(key)))
            changes.append(.resume(decision.record))
        }
        // Looked at now: its stage may have kept something meanwhile.
        guard var step = snapshot.steps[key], !step.state.isEnded else { return }
        step.resumes += 1
        step.version += 1
        try await commit([.step(key, step)] + changes)
    }

    private func mustBeginBy(_ step: StepKey) -> Timestamp? {
        snapshot.mustResumeBy(step, in: plan) { scope(for: $0) }
    }

    private func deferral(
        of step: StepKey, until: Timestamp, delay: Duration, _ reason: String
    ) -> JournalChange {
        .event(
            JobEvent(
                sequence: snapshot.sequence + 1, time: ports.clock.now, kind: .resumeDeferred, job: snapshot.record.id,
                pipeline: snapshot.record.pipeline, step: step,
                data: [
                    "until": .string(until.description), "delay": .number(JSONNumber(delay.seconds)),
                    "reason": .string(reason),
                ]))
    }

    /// Whether something could go on and is held back.
    var isHeldBack: Bool { resumes.heldUntil != nil || !resumes.moments.isEmpty }

    /// Of what could be done those things that the rules let begin now.
    func released(_ decisions: [JobMachine.Decision]) async throws(JournalFailure) -> [JobMachine.Decision] {
        guard !decisions.isEmpty else {
            // Where nothing can begin any more, after a failure for instance, nothing is held back: the job ends.
            resumes.heldUntil = nil
            resumes.moments = [:]
            return []
        }
        if let held = resumes.heldUntil {
            guard held <= ports.clock.now else { return [] }
            resumes.heldUntil = nil
        }
        if !resumes.isOpen, let key = decisions.wokenStep, let reason = reason(of: key) {
            gotControl(key, reason)
            try await enterResume()
            if resumes.heldUntil != nil { return [] }
        }
        var released: [JobMachine.Decision] = []
        for decision in decisions where try await isGoodMoment(for: decision) { released.append(decision) }
        return released
    }

    private func reason(of key: StepKey) -> ResumeReason? {
        guard case .waiting(_, let wake, let reason) = snapshot.steps[key]?.state else { return nil }
        if wake.endsWithCallback, (snapshot.pushes[key]?.waiting ?? 0) > 0 { return .push }
        return ResumeReason(endOf: reason.kind)
    }

    /// Whether a step that could begin may: only discretionary ones of the background wait.
    private func isGoodMoment(for decision: JobMachine.Decision) async throws(JournalFailure) -> Bool {
        guard case .begin(let key) = decision, let gate = backgroundGate, let stage = plan.stage(key.stage),
            stage.forEach == nil || key.item != nil, await isDiscretionary(key, stage)
        else { return true }
        let now = ports.clock.now
        if let again = resumes.moments[key], again > now { return false }
        let judgement = await gate.judge(momentQuestion(key, stage))
        guard !judgement.isGood, let again = judgement.askAgain else {
            resumes.moments[key] = nil
            return true
        }
        let isNew = resumes.moments.updateValue(again, forKey: key) == nil
        if isNew {
            telling.mayHaveMoved = true
            try await commit([deferral(of: key, until: again, delay: again - now, judgement.rationale)])
        }
        return false
    }

    /// A value that can't be had says no: then the step begins, and fails with that said.
    private func isDiscretionary(_ key: StepKey, _ stage: PlannedStage) async -> Bool {
        if let flag = stage.discretionary.constant { return flag }
        let value = try? await context(for: key, stage).evaluate { scope throws(EvaluationFailure) in
            try stage.discretionary.value(in: scope)
        }
        return value ?? false
    }

    private func momentQuestion(_ key: StepKey, _ stage: PlannedStage) -> ConditionQuestion {
        snapshot.momentQuestion(
            for: key, stage, budget: budget, mustBeginBy: snapshot.mustBeginBy(key, in: plan))
    }
}

extension JobMachine.Decision {
    /// What it is about.
    fileprivate var step: StepKey {
        switch self {
        case .begin(let key), .skip(let key), .wake(let key), .expand(let key), .gather(let key): key
        }
    }
}

extension [JobMachine.Decision] {
    /// The first step whose time has come.
    fileprivate var wokenStep: StepKey? {
        for case .wake(let key) in self { return key }
        return nil
    }
}
