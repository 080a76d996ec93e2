import JSONPath

/// How a step begins, is called, says what is to be kept, and ends.
extension JobState {
    /// Has it found out whether a step begins; a discretionary one waits for a good time first.
    mutating func prepare(_ key: StepKey) {
        guard let stage = table.plan.stage(key.stage) else { return }
        switch rules.question(about: key, stage, in: &table) {
        case .none: commands.append(.prepare(key))
        case .now(let question): commands.append(question)
        case .later(let limit): table.withIndex { $0.putBack(key, limit: limit) }
        }
    }

    mutating func take(_ finding: JobInput.Finding) throws(IllegalTransition) {
        switch finding {
        case .preparation(let key, let preparation): try begin(key, preparation)
        case .items(let key, .success(let items)):
            if let stage = table.plan.stage(key.stage) { try fanOut.expand(stage, items, in: &table) }
            table.withIndex { $0.look(at: key.stage) }
        case .items(let key, .failure(let failed)):
            fanOut.drop(key.stage)
            try refuse(key, failed)
        case .warnings(let key, let captures, let warnings, let cost):
            if case .running = table.step(key)?.state { try finish(key, captures, warnings, cost: cost) }
        case .resume(let decision): take(decision)
        case .authentication(let key, let decision):
            if let decision { table.record(.resume(decision.record)) }
            // Looked at now: its stage may have kept something meanwhile.
            if table.step(key)?.state.isEnded == false { table.edit(key) { $0.resumes += 1 } }
        case .condition(let key, let evaluation):
            if rules.take(evaluation, on: key, in: &table) { notifications.mayHaveMoved = true }
        case .attended(let record, let isJournaled): if isJournaled { table.record(.resume(record)) }
        case .cancellation(let key, let problem): try JobEnding.cancelled(key, problem, in: &table)
        }
    }

    /// A value around a step's own work can't be had. For want of a secret the job is let go with the step as it is, which
    /// is asked about again by an owner that has the secret.
    private mutating func refuse(_ key: StepKey, _ failed: AttemptFailure) throws(IllegalTransition) {
        guard failed.kind == .secret else { return try fail(key, failed.failure) }
        begin(.suspend(.secret, detail: failed.failure.title))
    }

    mutating func begin(_ key: StepKey, _ preparation: StepPreparation) throws(IllegalTransition) {
        guard let stage = table.plan.stage(key.stage), table.step(key)?.state == .pending else { return }
        guard fanOut.mayBegin(stage, in: table) else {
            let limit = table.mustBeginBy(key)
            return table.withIndex { index in
                index.putBack(key, limit: limit)
                index.look(at: key.stage)
            }
        }
        switch preparation {
        case .skipped: try table.change(key, .skipped)
        case .failed(let failed): try refuse(key, failed)
        case .expired(let expiry): try expire(key, stage, expiry)
        case .ready(let tolerates, let checkpoint):
            if let expiry = table.ownExpiry(of: key) { return try expire(key, stage, expiry) }
            try table.change(key, .started) { [now] in $0.begin(at: now, tolerates: tolerates, with: checkpoint) }
            if stage.forEach != nil, key.item == nil {
                expand(key, begins: true)
            } else {
                call(key)
            }
        }
    }

    private mutating func expire(
        _ key: StepKey, _ stage: PlannedStage, _ expiry: StepExpiry
    ) throws(IllegalTransition) {
        if try !Renewal.getsAnew(expiry, for: key, stage, in: &table) { try fail(key, table.void(expiry, for: stage)) }
    }

    /// Makes the steps of items that have none yet, once it is known what the stage is repeated over.
    mutating func expand(_ key: StepKey, begins: Bool = false) {
        guard let stage = table.plan.stage(key.stage) else { return }
        let wanted = begins || fanOut.wantsElements(of: stage, in: table)
        let follows = fanOut.followsOn(stage, in: &table)
        guard follows else { return commands.append(.evaluateItems(key, elements: wanted)) }
        // Items that had their steps already, as after a restart, change nothing and may begin all the same.
        table.withIndex { $0.look(at: key.stage) }
    }

    /// Goes on with a step whose time has come.
    mutating func wake(_ key: StepKey) throws(IllegalTransition) {
        guard case .waiting(_, _, let reason) = table.step(key)?.state else { return }
        let counts = rules.watch.takeCount(of: key)
        if reason.kind == .poll { marks.steps[key]?.polls += 1 }
        // A call that still reconciles its submit asks for nothing: what a callback says waits for one that does.
        let callbacks = snapshot.awaitsSubmit(of: key, in: table.plan) ? 0 : snapshot.pushes[key]?.waiting ?? 0
        try table.change(key, .woken) { $0.resumes += counts }
        if callbacks > 0 { table.takeCallbacks(callbacks, of: key) }
        if let failure = try Renewal.failure(of: key, after: reason, in: &table) { return try fail(key, failure) }
        // The last owner may have died between beginning a repeated stage and making its items.
        if table.plan.stage(key.stage)?.forEach != nil, key.item == nil {
            expand(key)
        } else {
            call(key, after: reason)
        }
    }

    mutating func call(_ key: StepKey, after reason: WaitReason? = nil) {
        guard let stage = table.plan.stage(key.stage), case .running = table.step(key)?.state else { return }
        calls[key] = OpenCall(began: now, urgency: Renewal.urgency(of: key, after: reason, in: table))
        marks.begin(key, at: now)
        notifications.mayHaveMoved = true
        commands += marks.foretell(key, stage, in: table, rules.watch).map(JobCommand.publish)
        switch stage.stage.work {
        case .transfer:
            if let expectation = rules.expectation(ofTransfer: key, in: table) { commands.append(expectation) }
        case .remoteJob, .local, .wait:
            if !snapshot.awaitsSubmit(of: key, in: table.plan) { rules.watch.inside.insert(key) }
        }
        commands.append(.call(key))
    }

    /// Takes in how a call of a stage ended.
    mutating func take(
        _ end: StepEnd, of key: StepKey, _ notes: StepNotes, random: Double
    ) throws(IllegalTransition) {
        let call = calls.removeValue(forKey: key) ?? OpenCall(began: now)
        rules.watch.inside.remove(key)
        notifications.mayHaveMoved = true
        marks.note(notes, of: key)
        guard let stage = table.plan.stage(key.stage), case .running = table.step(key)?.state else { return }
        let counts = end.isResume(of: stage) && openResume(key, .transferEnded) ? rules.watch.takeCount(of: key) : 0
        switch call.end(end) {
        case .finished(let captures):
            let sealed = table.sealed(captures, of: key)
            try succeed(key, stage, table.step(key)?.captures.merging(sealed) ?? sealed, notes, counts)
        case .waiting(let checkpoint, let wake, let reason)
        where stop == nil && rules.isOver(wake, reason, of: key, in: table):
            // Its slot is its own: the step has not waited. Whoever finds the step without the checkpoint does again what
            // it says, which is no more than to ask.
            table.edit(key, mayWait: true) { step in
                step.checkpoint = checkpoint
                step.add(notes)
            }
            if reason.kind == .poll { marks.polled(key, at: now) }
            continuing.insert(key)
        case .waiting(let checkpoint, let wake, let reason):
            try table.change(key, .parked(wake, reason), notes: notes) {
                $0.checkpoint = checkpoint
                $0.resumes += counts
            }
            marks.waits(key, reason, at: now)
            if let expectation = rules.expectation(of: key, wake, in: table) { commands.append(expectation) }
        case .unknown(let checkpoint, let submit):
            try table.change(key, .lostTrack(submit), notes: notes) {
                $0.checkpoint = checkpoint ?? $0.checkpoint
                $0.resumes += counts
            }
            table.charge(notes.cost, for: key, stage)
        case .stopped:
            if table.isOverdue(key) { return try endOverdue(key) }
            guard stop == nil else { return }
            // A stage that stopped by itself has ended no attempt: left running, it would hold the job forever.
            let failure = StepFailure("stage '\(key)' stopped by itself", place: stage.place)
            try fail(key, stage, AttemptFailure(failure, kind: .silent), notes, call.began, random, counts)
        case .failed(let failed): try fail(key, stage, failed, notes, call.began, random, counts)
        }
    }

    mutating func fail(
        _ key: StepKey, _ stage: PlannedStage, _ failed: AttemptFailure, _ notes: StepNotes, _ began: Timestamp,
        _ random: Double, _ counts: Int
    ) throws(IllegalTransition) {
        if stop == nil, Renewal.isWorthIt(failed, key, stage, in: table) {
            return try Renewal.begin(key, stage, failed.failure, began: began, notes, in: &table)
        }
        // A step that waits for a resume by now holds up no other; the job is let go once they have ended.
        let failure = table.explained(failed, key, stage)
        // It starts when it is let in: what it waits for till then counts for no deadline and no estimate.
        let isLeftOut = if case .held = failed.kind { !snapshot.hasBegunAnything(key) } else { false }
        try table.change(
            key, .tryFailed(failure, table.policy(of: key, stage), random: random), notes: notes
        ) { ($0.resumes, $0.started) = ($0.resumes + counts, isLeftOut ? nil : $0.started) }
        guard let name = table.step(key)?.state.name, [.failed, .unknown].contains(name) else { return }
        table.charge(notes.cost, for: key, stage, isOver: failed.endsRemoteJob)
        if name == .failed { marks.steps[key] = nil }
        if failed.endsRemoteJob { Restart.forgetRemoteJob(of: key, in: &table) }
    }

    /// Fails a step for good, before it began or without a word of its stage.
    mutating func fail(_ key: StepKey, _ failure: StepFailure) throws(IllegalTransition) {
        try JobEnding.fail(key, failure, in: &table)
        marks.steps[key] = nil
    }

    /// Ends a step whose deadline has passed.
    mutating func endOverdue(_ key: StepKey) throws(IllegalTransition) {
        if table.step(key)?.state.name == .waiting { try table.change(key, .woken) }
        guard let submit = table.overdueSubmit(of: key) else { return try fail(key, table.overdueFailure(of: key)) }
        try table.change(key, .lostTrack(submit))
    }

    /// Fails a step that a mistake of ours happened to. One that has ended stays as it is, and so does one whose submit is
    /// unknown: it may be there.
    mutating func failBroken(_ key: StepKey, _ failure: StepFailure) throws(IllegalTransition) {
        switch table.step(key)?.state {
        case .succeeded, .failed, .cancelled, .skipped, .unknown, nil: return
        case .waiting: try table.change(key, .woken)
        case .pending, .running: break
        }
        try fail(key, failure)
    }

    mutating func gather(_ id: String) throws(IllegalTransition) {
        guard let stage = table.plan.stage(id) else { return }
        let key = StepKey(stage: id)
        switch fanOut.gather(stage, in: &table) {
        case .captures(let captures):
            fanOut.close(id)
            try succeed(key, stage, captures, StepNotes(), 0)
        case .failure(let failure): try fail(key, failure)
        }
    }

    /// Ends a step well, once it is known what that is to be warned of.
    mutating func succeed(
        _ key: StepKey, _ stage: PlannedStage, _ captures: JSONObject, _ notes: StepNotes, _ counts: Int
    ) throws(IllegalTransition) {
        guard stage.judgesSuccess(of: key) else { return try finish(key, captures, [], notes, counts) }
        if stage.forEach == nil || key.item != nil {
            table.edit(key, mayWait: true) { step in
                step.resumes += counts
                step.add(notes)
            }
        }
        commands.append(.evaluateWarnings(key, captures: captures))
    }

    mutating func finish(
        _ key: StepKey, _ captures: JSONObject, _ warnings: [String], _ notes: StepNotes = StepNotes(),
        _ counts: Int = 0, cost: Double? = nil
    ) throws(IllegalTransition) {
        let made = fanOut.madeDespiteFailures(by: key, in: table)
        let cost = table.unpaid(cost, of: key)
        try table.change(key, .finished(captures), warnings: warnings, notes: notes) { step in
            if let cost { step.add(cost: cost) }
            step.captures = captures.merging(made)
            step.resumes += counts
        }
        if let sample = marks.takeSample(of: key, in: table) { table.record(.sample(sample)) }
    }

    /// Keeps what a call under way says.
    mutating func save(_ report: StepReport, of key: StepKey, _ notes: StepNotes) {
        marks.note(notes, of: key)
        var counts = 0
        if report.isSubmitted, snapshot.submits[key]?.phase != .submitted {
            let isRemote = if case .remoteJob = table.plan.stage(key.stage)?.stage.work { true } else { false }
            counts = isRemote && openResume(key, .submitAnswered) ? rules.watch.takeCount(of: key) : 0
            rules.watch.inside.insert(key)
        }
        report.keep(of: key, notes, counts: counts, in: &table)
    }

    /// Notes that control came back because of a step; false when that belongs to the resume under way.
    @discardableResult mutating func openResume(_ key: StepKey, _ reason: ResumeReason) -> Bool {
        rules.watch.open(key, reason, waited: marks.waited(key, at: now))
    }

    /// Has the resume under way entered in the ledger; true when that is to be waited for.
    mutating func enterResume() -> Bool {
        guard let question = rules.enterResume(&table) else { return false }
        commands.append(question)
        return true
    }

    /// Holds what follows a resume back for as long as the ledger says.
    private mutating func take(_ decision: ResumeDecision) {
        table.record(.resume(decision.record))
        let due = table.withIndex { [now] in $0.dueSteps(at: now) }
        guard decision.isDeferred, !due.isEmpty || hasDecision else { return }
        if rules.holdBack(after: decision, in: &table) { notifications.mayHaveMoved = true }
    }
}
