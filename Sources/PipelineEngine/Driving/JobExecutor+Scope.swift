import JSONPath
import PipelineCore

extension JobExecutor {
    /// What expressions of the step may read at this moment.
    func scope(for key: StepKey) -> Scope {
        var scope = snapshot.scope(
            for: key, in: plan, environment: environment, secrets: secrets, secretInputs: secretInputs,
            firstKey: firstKeys[key])
        if snapshot.submits[key] == nil { firstKeys[key] = scope.ownKey }
        if holdsSealed, let sealing { scope.open(with: sealing) }
        if plan.stage(key.stage)?.stage.callback != nil {
            scope.callbackURL = ports.callbackURL(snapshot.record.id, key, scope.ownKey ?? "")
        }
        return scope
    }

    /// What expressions outside of all stages may read.
    var documentScope: Scope {
        snapshot.documentScope(environment: environment, secrets: secrets, secretInputs: secretInputs)
    }

    /// What is fixed of a step for one call of its stage.
    func facts(of key: StepKey, _ stage: PlannedStage, _ step: StepRecord) -> StageFacts {
        StageFacts(
            job: snapshot.record.id, jobKey: snapshot.record.key, pipeline: snapshot.record.pipeline, step: key,
            attempt: step.state.tries?.number ?? 1, started: step.started ?? ports.clock.now,
            deadline: deadline(of: key), folders: snapshot.record.folders, overwrites: overwrites,
            retry: policy(of: key, stage), outlook: outlook(of: key, stage), place: stage.place)
    }

    /// Keeps a stage's checkpoint and captures. New bytes forget earlier failures. With `mayWait` they are kept with what
    /// comes next.
    func keep(
        _ key: StepKey, checkpoint: [UInt8]?, captures: JSONObject?, moved: BytesMoved, mayWait: Bool = false
    ) async throws(JournalFailure) {
        guard var step = snapshot.steps[key] else { return }
        step.checkpoint = checkpoint ?? step.checkpoint
        conceal(captures ?? [:], of: key)
        for member in sealed(captures ?? [:]) { step.captures[member.name] = member.value }
        step.bytesSent += moved.sent
        step.bytesReceived += moved.received
        if moved != BytesMoved(), let (state, _) = try? step.state.apply(.progressed, at: ports.clock.now) {
            step.state = state
        }
        limits.move(to: &step, of: key)
        step.version += 1
        if mayWait { try stage([.step(key, step)], mayWait: true) } else { try await commit([.step(key, step)]) }
    }

    /// Keeps an entry of the submit ledger, with the captures of its answer in the same transaction.
    func keep(_ key: StepKey, submit: SubmitRecord, captures: JSONObject?) async throws(JournalFailure) {
        var changes: [JournalChange] = [.submit(key, submit)]
        if let captures { conceal(captures, of: key) }
        let isAnswered = submit.phase == .submitted && snapshot.submits[key]?.phase != .submitted
        let counts = isAnswered && isRemoteJob(key) && gotControl(key, .submitAnswered) ? resumes.takeCount(of: key) : 0
        if isAnswered { resumes.inside.insert(key) }
        if var step = snapshot.steps[key], captures != nil || counts > 0 {
            for member in sealed(captures ?? [:]) { step.captures[member.name] = member.value }
            step.resumes += counts
            step.version += 1
            changes.append(.step(key, step))
        }
        try await commit(changes)
    }
}
