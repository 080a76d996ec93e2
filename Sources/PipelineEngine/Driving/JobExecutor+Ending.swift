import JSONPath
import PipelineCore

extension JobExecutor {
    /// Takes the job up: what its last owner left running is interrupted, what waits for a resume is woken.
    func takeUp(_ mode: JobMode, _ again: RestartScope) async throws(JournalFailure) {
        let now = ports.clock.now
        var changes: [JournalChange] = []
        for (key, step) in snapshot.steps.sorted(by: { $0.key < $1.key }) {
            if isRestarted(key, again) {
                changes += restarted(key, step)
            } else if let (state, _) = try? step.state.apply(again.event(for: step.state), at: now), state != step.state
            {
                var changed = step
                changed.state = state
                if !state.isEnded { changed.ended = nil }
                if state == .pending { changes += reopened(key, &changed) }
                changed.version += 1
                changes.append(.step(key, changed))
            }
        }
        if snapshot.ended != nil, again != .nothing { changes.append(.reopened) }
        // Taking a job up answers an earlier pause; a cancellation holds until it is done.
        if snapshot.request == .pause || again != .nothing { changes.append(.requested(nil)) }
        let wasHeld = Interactivity.unattended.isHeld(by: plan.definition.background, mode: snapshot.mode)
        if mode == .attached, attendance == .attended, wasHeld {
            changes += await attend(isJournaled: snapshot.mode == .background)
        }
        changes += [.taken(mode), event(.jobResumed, attendance.data(mode))]
        try await commit(changes)
        // Steps that a person wants tried afresh are no restart of what was under way.
        if again == .nothing, let key = restartedStep { gotControl(key, .restart) }
    }

    /// A step that failed or was cancelled and is to be tried afresh: its deadline counts anew, and a submit that was
    /// refused, of which nothing exists at the service, may be sent again.
    private func reopened(_ key: StepKey, _ step: inout StepRecord) -> [JournalChange] {
        step.started = nil
        guard var submit = snapshot.submits[key], submit.phase == .refused else { return [] }
        submit.phase = .intent
        submit.sends = 0
        submit.firstSent = nil
        return [.submit(key, submit)]
    }

    private func isRestarted(_ key: StepKey, _ again: RestartScope) -> Bool {
        if again != .nothing, plan.stage(key.stage)?.isFinal == true { return true }
        guard case .from(let stage) = again else { return false }
        return plan.dependents(of: stage).contains(key.stage)
    }

    /// A step as if it had never run. A submit of it is a new one: the key's generation grows.
    private func restarted(_ key: StepKey, _ step: StepRecord) -> [JournalChange] {
        var fresh = StepRecord(toleratesFailure: step.toleratesFailure, value: step.value)
        fresh.bytesSent = step.bytesSent
        fresh.bytesReceived = step.bytesReceived
        fresh.resumes = step.resumes
        fresh.version = step.version + 1
        let submit = snapshot.submits[key].map { record in
            JournalChange.submit(key, record.nextGeneration(jobKey: snapshot.record.key, step: key))
        }
        let pushes: [JournalChange] = snapshot.pushes[key] == nil ? [] : [.pushesVoided(key)]
        return [.step(key, fresh)] + (submit.map { [$0] } ?? []) + pushes
    }

    /// Ends the job.
    func close(_ phase: JobPhase) async throws(JournalFailure) -> JobEnd {
        let kind: JobEvent.Kind =
            switch phase {
            case .succeeded: .jobSucceeded
            case .cancelled: .jobCancelled
            default: .jobFailed
            }
        var data = JSONObject()
        if phase == .failed, let failure = snapshot.failure { data["error"] = failure.failure.json }
        try await commit([.ended(ports.clock.now), .requested(nil), event(kind, data)])
        await ports.gate?.forget(snapshot.record.id)
        return .ended(phase)
    }

    /// Lets the job go unfinished: running steps are interrupted, so that the next owner finds nothing running. What
    /// `isLeft` goes on with the next background owner, as after a crash.
    func letGo(_ cause: SuspensionCause, detail: String?, isLeft: Bool = false) async throws(JournalFailure) -> JobEnd {
        let kind: WaitReason.Kind = cause == .secret ? .secret : .interrupted
        for (key, step) in snapshot.steps.sorted(by: { $0.key < $1.key }) where step.state.name == .running {
            try await change(key, .interrupted(WaitReason(kind, detail: detail)))
        }
        var data: JSONObject = ["cause": .string(cause.rawValue)]
        if let detail { data["detail"] = .string(redactor.redact(detail)) }
        let request: [JournalChange] = isLeft ? [] : [.requested(nil)]
        try await commit([.released(isLeft ? nil : cause)] + request + [event(.jobSuspended, data)])
        await ports.gate?.forget(snapshot.record.id)
        return .suspended(cause)
    }

    /// Lets go a job whose submit a person must settle.
    func letGoUnknown() async throws(JournalFailure) -> JobEnd {
        try await commit([.released(nil)])
        return .unknown
    }

    /// Cancels every step that has not ended, at its service too; the stages of `finally` run after that. Nil while
    /// there are some: a second cancellation ends them as well.
    func cancelAll() async throws(JournalFailure) -> JobEnd? {
        try await keepStaged()
        // Nothing of theirs is done any more; a service may take its time over a cancellation.
        outlet.acted(onAllBut: [])
        for (key, step) in snapshot.steps.sorted(by: { $0.key < $1.key }) where !step.state.isEnded {
            guard let stage = plan.stage(key.stage), isFinishing || !stage.isFinal else { continue }
            var warnings: [String] = []
            let isRepeated = stage.forEach != nil && key.item == nil
            if step.started != nil, !isRepeated, duty == .end {
                warnings = ["its service was not told of the cancellation: what was begun there goes on"]
            } else if step.started != nil, !isRepeated {
                let host = StepHost(driver: self, facts: facts(of: key, stage, step), ports: ports, redactor: redactor)
                let failure = await StepRun.cancel(stage.stage, step.checkpoint, host)
                if case .failed(let failed) = failure {
                    warnings = ["the service could not be told of the cancellation: \(failed.failure.title)"]
                }
            }
            try await change(key, .cancelled, warnings: warnings)
        }
        if isFinishing || plan.finally.isEmpty { return try await close(snapshot.outcome) }
        // Done as far as it was asked for: only another request ends `finally` too.
        try await commit([.requested(nil)])
        isFinishing = true
        stop = nil
        return nil
    }

    /// Looks all secrets up; the first that is missing, as a sentence, or nil. Those that are there are used and hidden
    /// in any case: who only tells what became of the job does without the rest.
    func readSecrets() async -> String? {
        var missing: String?
        for name in plan.secrets where !plan.optionalSecrets.contains(name) || secrets[name] == nil {
            if let value = await ports.secrets.secret(name) {
                secrets[name] = value
            } else if missing == nil, snapshot.record.needsSecret(name, in: plan) {
                missing = "the secret \(name) is not set"
            }
        }
        redactor.add(secrets.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
        redactor.add(secretInputs.map { ($0.name, $0.value.string ?? $0.value.text) })
        renewSealing()
        for (key, step) in snapshot.steps.sorted(by: { $0.key < $1.key }) { conceal(opened(step.captures), of: key) }
        return missing
    }

    /// Looks the secrets up again; true when one is another than in those that were used.
    func renewSecrets(since used: [String: String]) async -> Bool {
        for name in plan.secrets {
            guard let value = await ports.secrets.secret(name), value != secrets[name] else { continue }
            secrets[name] = value
            redactor.add([(name, value)])
        }
        renewSealing()
        return plan.secrets.contains { secrets[$0] != used[$0] }
    }

    /// Values of captures that are secret are hidden from now on wherever something is shown.
    func conceal(_ captures: JSONObject, of key: StepKey) {
        guard let stage = plan.stage(key.stage) else { return }
        for declared in stage.captures where declared.isSecret {
            guard let value = captures[declared.name], value != .null else { continue }
            let values = value.array ?? [value]
            redactor.add(values.map { ("\(key.stage).\(declared.name)", $0.string ?? $0.text) })
        }
    }
}

extension RestartScope {
    /// What happens to a step in the state when its job is taken up.
    fileprivate func event(for state: StepState) -> StepEvent {
        switch state {
        case .failed, .cancelled: self == .nothing ? .takenUp : .retried
        case .pending, .running, .waiting, .unknown, .succeeded, .skipped: .takenUp
        }
    }
}
