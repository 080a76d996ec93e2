package import JSONPath

/// What expires, from what was journaled with the steps: the same over restarts.
extension JobSnapshot {
    /// Returns what presses a step that has not ended, the earliest; nil when nothing does. For one that has not begun
    /// that is what it reads and what it was given; for one under way what the service keeps of it, and for a transfer, whose every
    /// request is made of what it reads, that too.
    package func pressing(_ key: StepKey, in plan: Plan) -> StepExpiry? {
        guard let step = steps[key], !step.state.isEnded, let stage = plan.stage(key.stage) else { return nil }
        let own = step.expires.map { StepExpiry(holder: key, since: step.started ?? record.started, time: $0) }
        let read = stage.readsOn(step) ? sources(of: key, stage).compactMap(expiry) : []
        return (read + [own].compactMap { $0 }).min { $0.mustActBefore < $1.mustActBefore }
    }

    /// Before this the step must begin, or go on: ``pressing(_:in:)``.
    package func mustBeginBy(_ key: StepKey, in plan: Plan) -> Timestamp? { pressing(key, in: plan)?.mustActBefore }

    /// Returns when the step's deadline passes; nil for none, or while an expression for it has no value.
    package func deadline(of key: StepKey, in plan: Plan, scope: @autoclosure () -> Scope) -> Timestamp? {
        guard let setting = plan.stage(key.stage)?.deadline, let started = steps[key]?.started,
            let duration = setting.constant ?? (try? setting.value(in: scope()))
        else { return nil }
        return started + duration
    }

    /// Returns whether a step that was called has done anything: a service has taken something of it, or refused it, or it has
    /// something to go on from.
    func hasBegunAnything(_ key: StepKey) -> Bool {
        guard let step = steps[key] else { return false }
        let isUntouched = step.checkpoint == nil && step.captures.isEmpty && step.state.attempt == AttemptState()
        return !isUntouched || submits[key]?.isBegun == true
    }

    /// Until when the captures of a step that has succeeded are good.
    package func expiry(_ key: StepKey) -> StepExpiry? {
        guard let step = steps[key], step.state.name == .succeeded, let time = step.expires, let end = step.ended else {
            return nil
        }
        return StepExpiry(holder: key, since: end, time: time)
    }

    /// The steps whose captures a step reads: of a stage whose items its own follow, the one of the same number.
    package func sources(of key: StepKey, _ stage: PlannedStage) -> [StepKey] {
        stage.sources.sorted().compactMap { source in
            guard stage.forEach?.followed == source else { return StepKey(stage: source) }
            return key.item.map { StepKey(stage: source, item: $0) }
        }
    }
}

extension PlannedStage {
    /// Until when what `reader` reads of a step of the stage that has succeeded is good, as it is journaled: all of it where
    /// the author said so, else the links that are read.
    package func expiry(
        of key: StepKey, _ step: StepRecord, readBy reader: PlannedStage, _ values: JobValues
    ) -> StepExpiry? {
        guard case .succeeded(let captures) = step.state, let end = step.ended, let known = step.expires else {
            return nil
        }
        if expires != nil { return StepExpiry(holder: key, since: end, time: known) }
        let read = values.opened(captures).filter { reader.reads($0.name, of: id) }
        let time = read.compactMap { LinkExpiry.earliest(in: $0.value, after: end) }.min()
        return time.map { StepExpiry(holder: key, since: end, time: $0) }
    }

    /// Until when captures that were made at `end` are good: what the author said with `expires`, else the earliest link
    /// among them that says so itself. The scope's `self` is the stage's.
    package func expiry(
        of captures: JSONObject, endedAt end: Timestamp, in scope: Scope
    ) throws(EvaluationFailure) -> Timestamp? {
        if let expires { return try expires.time(endedAt: end, in: scope) }
        // One that was over when it came is no sign of anything but a clock that differs.
        return captures.compactMap { LinkExpiry.earliest(in: $0.value, after: end) }.min()
    }
}
