import JSONPath
import PipelineCore

extension JobExecutor {
    /// Makes the change of one step that an event asks for: commits it, then does what the law says.
    ///
    /// With `isStaged` the change waits for the next commit, which the loop sees to before it waits for anything.
    func change(
        _ key: StepKey, _ event: StepEvent, warnings: [String] = [], isStaged: Bool = false,
        with more: [JournalChange] = [], adjust: (inout StepRecord) -> Void = { _ in }
    ) async throws(JournalFailure) {
        guard var step = snapshot.steps[key] else { return }
        let now = ports.clock.now
        let (state, effects): (StepState, [StepEffect])
        do {
            (state, effects) = try step.state.apply(event, at: now)
        } catch {
            // A mistake of ours: told as such, and the job stops where its last commit left it.
            throw .other("stage '\(key)': \(error)")
        }
        step.state = state
        if state.isEnded { step.ended = now }
        step.attempts = state.tries?.number ?? step.attempts
        adjust(&step)
        limits.move(to: &step, of: key)
        // Of one that has failed what the service keeps of it is there as long as before.
        if state.isEnded, state.name != .failed { step.expires = expiry(of: key, state, at: now) }
        let moved = passing.take(key)
        step.bytesSent += moved.sent
        step.bytesReceived += moved.received
        step.version += 1
        let warned: [StepEffect] = warnings.map { .publish(.stageWarned, ["message": .string($0)]) }
        let events = events(of: warned + effects, key: key, attempt: step.attempts, at: now)
        let sample = sample(of: key, step, at: now).map { [JournalChange.sample($0)] } ?? []
        let changes = [.step(key, step)] + events + sample + more
        if effects.contains(where: \.isToBeDone) { outlet.hold(key) }
        if isStaged { try stage(changes) } else { try await commit(changes) }
    }

    private func events(of effects: [StepEffect], key: StepKey, attempt: Int, at time: Timestamp) -> [JournalChange] {
        var sequence = snapshot.sequence
        return effects.compactMap { effect -> JournalChange? in
            guard case .publish(let kind, let data) = effect else { return nil }
            sequence += 1
            return .event(
                JobEvent(
                    sequence: sequence, time: time, kind: kind, job: snapshot.record.id,
                    pipeline: snapshot.record.pipeline, step: key, attempt: attempt == 0 ? nil : attempt,
                    data: redactor.redact(.object(data)).object ?? [:]))
        }
    }

    /// An event of the whole job, as a change to be committed.
    func event(_ kind: JobEvent.Kind, _ data: JSONObject = [:]) -> JournalChange {
        .event(
            JobEvent(
                sequence: snapshot.sequence + 1, time: ports.clock.now, kind: kind, job: snapshot.record.id,
                pipeline: snapshot.record.pipeline, data: data))
    }

    /// Evaluates the step's `when`; starts or skips it.
    func beginStep(_ key: StepKey, _ group: inout TaskGroup<Void>) async throws(JournalFailure) {
        guard let stage = plan.stage(key.stage) else { return }
        let tolerates: Bool
        do throws(StageFailure) {
            if let condition = stage.condition, (key.item != nil) == stage.conditionReadsItem,
                try await !isTrue(condition, key)
            {
                try await wrapped { () async throws(JournalFailure) in _ = try await self.change(key, .skipped) }
                return
            }
            tolerates = try await settings(of: key, stage)
        } catch {
            return try await fail(key, stage, error)
        }
        if try await renewExpired(key, stage) { return }
        let first = await firstCheckpoint(of: key, stage)
        let now = ports.clock.now
        try await change(key, .started) { step in
            step.started = step.started ?? now
            step.toleratesFailure = tolerates
            step.checkpoint = step.checkpoint ?? first
        }
        if stage.forEach != nil, key.item == nil { try await expand(key) } else { launch(key, &group) }
    }

    /// What the stage wants to be kept with its start.
    private func firstCheckpoint(of key: StepKey, _ stage: PlannedStage) async -> [UInt8]? {
        guard let first = stage.stage.first, stage.forEach == nil || key.item != nil else { return nil }
        return await StepRun.first(first, scope(for: key), snapshot.record.folders)
    }

    /// Evaluates what the document says around the stage's own work, so that a value that is wrong fails it at once;
    /// true when its failure is to be tolerated.
    private func settings(of key: StepKey, _ stage: PlannedStage) async throws(StageFailure) -> Bool {
        if stage.hasConstantSettings { return stage.isFinal || stage.continuesOnFailure.constant == true }
        return try await context(for: key, stage).evaluate { scope throws(EvaluationFailure) in
            _ = try stage.retries.policy(in: scope)
            _ = try stage.deadline?.value(in: scope)
            _ = try stage.discretionary.value(in: scope)
            let tolerates = try stage.continuesOnFailure.value(in: scope)
            return stage.isFinal || tolerates
        }
    }

    /// When a failed try of the step is repeated.
    func policy(of key: StepKey, _ stage: PlannedStage) -> RetryPolicy {
        stage.retries.isConstant ? stage.retry : (try? stage.retries.policy(in: scope(for: key))) ?? stage.retry
    }

    private func wrapped(_ work: () async throws(JournalFailure) -> Void) async throws(StageFailure) {
        do {
            try await work()
        } catch {
            throw .journal(error)
        }
    }

    private func isTrue(_ condition: Expression, _ key: StepKey) async throws(StageFailure) -> Bool {
        guard let stage = plan.stage(key.stage) else { return false }
        let value = try await context(for: key, stage).evaluate { scope throws(EvaluationFailure) in
            try condition.evaluate(in: scope)
        }
        if let flag = value.bool { return flag }
        throw .definite(
            StepFailure(
                "'when' of stage '\(key.stage)' gives \(value.kindName), not true or false",
                hint: "compare it, for example with == or != null", place: stage.place))
    }

    /// Goes on with a step whose wake has come, or fails it when its deadline passed while it waited.
    func wake(_ key: StepKey, _ group: inout TaskGroup<Void>) async throws(JournalFailure) {
        let counts = resumes.takeCount(of: key)
        if case .waiting(_, _, let reason) = snapshot.steps[key]?.state, reason.kind == .poll {
            resumes.polls[key, default: 0] += 1
        }
        let taken: [JournalChange] = (snapshot.pushes[key]?.waiting ?? 0) > 0 ? [.pushesTaken(key)] : []
        try await change(key, .woken, with: taken) { $0.resumes += counts }
        if let stage = plan.stage(key.stage), try await failUnrenewed(key, stage) { return }
        // The last owner may have died between beginning a repeated stage and making its items.
        if plan.stage(key.stage)?.forEach != nil, key.item == nil { return try await expand(key) }
        launch(key, &group)
    }

    /// Takes in how a call of a stage ended.
    func handle(
        _ result: Result<StageOutcome<[UInt8]>, StageFailure>, of key: StepKey, began: Timestamp
    ) async throws(JournalFailure) {
        guard let stage = plan.stage(key.stage), case .running = snapshot.steps[key]?.state else { return }
        let counts = countsEnd(of: stage, result) && gotControl(key, .transferEnded) ? resumes.takeCount(of: key) : 0
        switch result {
        case .success(.finished(let captures)):
            let all = merged(snapshot.steps[key]?.captures ?? [:], sealed(captures))
            conceal(captures, of: key)
            let warnings = await warnings(of: stage, key, all)
            try await change(key, .finished(all), warnings: warnings, isStaged: true) {
                $0.captures = all
                $0.resumes += counts
            }
        case .success(.waiting(let checkpoint, let wake, let reason)) where isOver(wake, reason, of: key):
            try goOn(key, from: checkpoint, reason)
        case .success(.waiting(let checkpoint, let wake, let reason)):
            try await change(key, .parked(wake, reason), isStaged: true) {
                $0.checkpoint = checkpoint
                $0.resumes += counts
            }
            await noteParking(of: key, wake, reason)
        case .success(.unknown(let checkpoint, let submit)):
            try await change(key, .lostTrack(submit)) {
                $0.checkpoint = checkpoint ?? $0.checkpoint
                $0.resumes += counts
            }
        case .failure(.stopped): try await handleStop(of: key, stage, began: began)
        case .failure(.failed(let failed)) where mayRenew(key, stage, failed):
            try await renew(key, stage, failed.failure, began: began)
        case .failure(.failed(let failed)):
            let random = ports.randomness.unit()
            // A step that waits for a resume by now holds up no other; the job is let go once they have ended.
            let failed = explained(failed, key, stage)
            try await change(key, .tryFailed(failed, policy(of: key, stage), random: random)) {
                $0.resumes += counts
            }
        case .failure(.journal(let failure)): throw failure
        }
    }

    /// What becomes of a step whose stage was stopped: by us, when the suspension or cancellation that asked for it says
    /// so, by its deadline, or by itself.
    private func handleStop(of key: StepKey, _ stage: PlannedStage, began: Timestamp) async throws(JournalFailure) {
        if overdue(key) { return try await failOverdue(key, stage) }
        guard stop == nil else { return }
        // A stage that stopped by itself has ended no try: left running, it would hold the job for ever.
        let failure = StepFailure("stage '\(key)' stopped by itself", place: stage.place)
        try await handle(.failure(.failed(AttemptFailure(failure, kind: .silent))), of: key, began: began)
    }

    /// Whether a wait is over before it begins, and its end is no other's business: no push is to be taken, and the rules
    /// of the background have no say.
    private func isOver(_ wake: WakeCondition, _ reason: WaitReason, of key: StepKey) -> Bool {
        guard stop == nil, backgroundGate == nil, !reason.kind.startsNewTry, let due = wake.time else { return false }
        return due <= ports.clock.now && !snapshot.hasPush(key)
    }

    /// Has the stage called again at once, in its slot: the step has not waited. The checkpoint goes with the next commit:
    /// whoever finds the step without it does again what it says, which is no more than to ask.
    private func goOn(
        _ key: StepKey, from checkpoint: [UInt8], _ reason: WaitReason
    ) throws(JournalFailure) {
        guard var step = snapshot.steps[key] else { return }
        step.checkpoint = checkpoint
        step.version += 1
        try stage([.step(key, step)], mayWait: true)
        if reason.kind == .poll {
            resumes.polls[key, default: 0] += 1
            resumes.lastRunning[key] = ports.clock.now
        }
        continuing.insert(key)
    }

    private func merged(_ first: JSONObject, _ second: JSONObject) -> JSONObject {
        var all = first
        for member in second { all[member.name] = member.value }
        return all
    }
}

extension StepEffect {
    /// Whether it is something to do, beyond telling of it.
    fileprivate var isToBeDone: Bool {
        switch self {
        case .run, .wake, .suspendJob: true
        case .publish: false
        }
    }
}
