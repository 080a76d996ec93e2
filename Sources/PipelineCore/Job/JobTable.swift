package import JSONPath

/// The steps of one job and all that is kept of it: the only place where a step's row is edited.
///
/// Each edit raises the row's version, is looked up in the law (``StepState/apply(_:at:)``), makes its events and
/// keeps the indexes; what is to be committed gathers until it is taken.
package struct JobTable: Sendable {
    package let plan: Plan
    package private(set) var snapshot: JobSnapshot
    package var values: JobValues
    private(set) var index: StepIndex
    private(set) var deadlines = StepDeadlines()
    private var expiries: StepExpiries
    /// The moment of the input under way, or of the last one.
    package internal(set) var moment: JobMoment
    private var view = ScopeView()
    private var changes: [JournalChange] = []
    private var mayWait = true

    package init(_ snapshot: JobSnapshot, plan: Plan, values: JobValues, at moment: JobMoment) {
        self.plan = plan
        self.snapshot = snapshot
        self.values = values
        self.moment = moment
        index = StepIndex(plan: plan)
        expiries = StepExpiries(plan)
        for (fact, value) in snapshot.facts { view.add(fact, value) }
        let rows = snapshot.steps.map { (order: index.order($0.key.stage), key: $0.key, step: $0.value) }
        for row in rows.sorted(by: { ($0.order, $0.key) < ($1.order, $1.key) }) {
            moved(row.key, from: nil, to: row.step)
        }
        index.settleArrivals(in: snapshot.steps)
    }

    // MARK: Editing

    /// Makes the change of one step that an event asks for, with its events.
    mutating func change(
        _ key: StepKey, _ event: StepEvent, warnings: [String] = [], notes: StepNotes = StepNotes(),
        adjust: (inout StepRecord) -> Void = { _ in }
    ) throws(IllegalTransition) {
        guard var step = snapshot.steps[key] else { return }
        let transition: StepTransition
        do throws(IllegalTransition) {
            transition = try step.state.apply(event, at: moment.time)
        } catch {
            throw IllegalTransition(state: error.state, event: error.event, step: key)
        }
        step.state = transition.state
        if step.state.isEnded { step.ended = moment.time }
        // One that no service has let in yet is tried anew as if for the first time.
        if step.state.name == .running { step.started = step.started ?? moment.time }
        step.attempts = step.state.attempt?.number ?? step.attempts
        adjust(&step)
        step.add(notes)
        // Of one that has failed what the service keeps of it is there as long as before.
        if step.state.isEnded, step.state.name != .failed { step.expires = expiry(of: key, step.state) }
        put(key, step)
        for warning in warnings { publish(.stageWarned, ["message": .string(warning)], of: key) }
        for event in transition.events { publish(event.kind, event.data, of: key) }
    }

    /// Changes what is kept of a step besides its state.
    mutating func edit(_ key: StepKey, mayWait: Bool = false, _ work: (inout StepRecord) -> Void) {
        guard var step = snapshot.steps[key] else { return }
        work(&step)
        put(key, step, mayWait: mayWait)
    }

    /// Moves the times of steps under way along with a clock that was set by so much, so that each is as far from now as
    /// before. A crash before it is kept loses nothing: see ``JobSnapshot/latestActivity``.
    mutating func setClock(by shift: Duration) throws(IllegalTransition) {
        for key in snapshot.steps.keys.filter({ snapshot.steps[$0]?.state.attempt != nil }).sorted() {
            try change(key, .clockSet(shift)) { $0.started = $0.started.map { $0 + shift } }
            guard var submit = snapshot.submits[key] else { continue }
            submit.firstSent = submit.firstSent.map { $0 + shift }
            submit.lastSent = submit.lastSent.map { $0 + shift }
            if submit != snapshot.submits[key] { record(.submit(key, submit)) }
        }
    }

    /// Makes the step of an item that has none.
    mutating func add(_ key: StepKey, _ step: StepRecord) { record(.step(key, step), from: nil, step) }

    private mutating func put(_ key: StepKey, _ step: StepRecord, mayWait: Bool = false) {
        var step = step
        let old = snapshot.steps[key]
        step.version += 1
        record(.step(key, step), from: old, step, mayWait: mayWait)
    }

    private mutating func record(
        _ change: JournalChange, from old: StepRecord?, _ new: StepRecord, mayWait: Bool = false
    ) {
        record(change, mayWait: mayWait)
        if case .step(let key, _) = change { moved(key, from: old, to: new) }
    }

    private mutating func moved(_ key: StepKey, from old: StepRecord?, to new: StepRecord) {
        index.move(key, from: old, to: new, hasCallback: snapshot.hasCallback(key))
        view.move(key, to: new, isRenewed: index.renewed.contains(key.stage))
        expiries.move(key, from: old, to: new, in: snapshot, plan)
        guard old?.state.name != new.state.name || old?.started != new.started else { return }
        let isActive = new.state.attempt != nil
        deadlines.set(key, new, plan.stage(key.stage), to: isActive ? deadline(of: key) : nil)
    }

    /// Adds a change that is no step's.
    mutating func record(_ change: JournalChange, mayWait: Bool = false) {
        snapshot.apply(change)
        if case .fact(let fact, let value) = change { view.add(fact, value) }
        changes.append(change)
        if !mayWait { self.mayWait = false }
    }

    /// Says where the item stands that the job is for; nothing for a job of its own.
    mutating func recordItem(_ outcome: ItemOutcome) {
        if snapshot.record.item != nil { record(.item(outcome)) }
    }

    /// Adds an event of a step, or of the whole job.
    mutating func publish(
        _ kind: JobEvent.Kind, _ data: JSONObject = [:], of key: StepKey? = nil, isAttempt: Bool = true
    ) {
        let attempt = isAttempt ? key.flatMap { snapshot.steps[$0]?.attempts } : nil
        record(
            .event(
                JobEvent(
                    sequence: snapshot.sequence + 1, time: moment.time, kind: kind, job: snapshot.record.id,
                    pipeline: snapshot.record.pipeline, step: key, attempt: attempt == 0 ? nil : attempt,
                    data: moment.redactor.redact(.object(data)).object ?? [:])))
    }

    /// The changes since the last call, and whether nothing rests on them.
    mutating func takeChanges() -> (changes: [JournalChange], mayWait: Bool) {
        defer { (changes, mayWait) = ([], true) }
        return (changes, mayWait)
    }

    /// The changes so far, for what follows from them.
    var openChanges: [JournalChange] { changes }

    /// Takes in what others wrote of the job.
    mutating func receive(_ callbacks: [StepKey: CallbackCount]) {
        snapshot.pushes = callbacks
        for key in callbacks.keys where snapshot.hasCallback(key) {
            if let state = snapshot.steps[key]?.state { index.noteCallback(key, in: state) }
        }
        judgeEarlyCallbacks(of: callbacks.keys)
    }

    /// Counts callbacks as those that the step was woken for. If the first lack what the document takes out of them, that is
    /// told: a stage that they alone can end would wait without a word.
    mutating func takeCallbacks(_ count: Int, of key: StepKey) {
        let known = snapshot.pushes[key]
        record(.callbacksTaken(key, count: count))
        let names = plan.stage(key.stage)?.stage.callback?.capture.entries.map(\.name) ?? []
        guard known?.taken == 0, known?.captures == nil, !names.isEmpty else { return }
        let message = "a push came without all that \"callback\" captures from it (\(names.joined(separator: ", ")))"
        publish(.stageWarned, ["message": .string(message)], of: key)
    }

    /// Judges callbacks that came before the submit's response was kept, once it is: what `match` compares them with is
    /// known then. The newest first: its values are those that count.
    mutating func judgeEarlyCallbacks(of keys: some Collection<StepKey>) {
        for key in keys where snapshot.submits[key]?.phase == .submitted {
            guard let early = snapshot.pushes[key]?.early, !early.isEmpty else { continue }
            let condition = plan.stage(key.stage)?.stage.callback?.condition
            var scope = currentScope(for: key)
            for callback in early.reversed() {
                scope.response = callback.response.map(values.opened)
                let isMatch = condition.map { (try? $0.evaluateCondition(in: scope)) == true } ?? true
                record(.callbackJudged(key, id: callback.id, isMatch: isMatch))
            }
            if snapshot.hasCallback(key), let state = snapshot.steps[key]?.state { index.noteCallback(key, in: state) }
        }
    }

    /// The number of looks at the indexes so far, in operations.
    var work: Int { index.work + deadlines.work + expiries.work }

    /// Works on the index: what is to be looked at, taken out and put back.
    mutating func withIndex<Value>(_ work: (inout StepIndex) -> Value) -> Value { work(&index) }

    /// The steps whose deadline has passed since the last call.
    mutating func takeOverdue() -> [StepKey] { deadlines.takeDue(at: moment.time) }

    mutating func nextDeadline() -> Timestamp? { deadlines.next }

    /// Returns whether the job is left alone until then for at least so long; or it waits for what other jobs have by then, a
    /// place at a service or the trial of a closed one, and must not hold what these need to go on.
    mutating func waits(until time: Timestamp?, atLeast length: Duration) -> Bool {
        guard let time, time - moment.time < length else { return true }
        guard let key = withIndex({ $0.nextUnheld() }), case .waiting(_, _, let reason) = step(key)?.state else {
            return false
        }
        return reason.kind == .full || reason.kind == .closed
    }

    /// Before this what waits must go on, since its deadline would pass.
    mutating func nextWaitLimit() -> Timestamp? { deadlines.nextWaitLimit }

    // MARK: Asking

    package func step(_ key: StepKey) -> StepRecord? { snapshot.steps[key] }

    /// The state in which the job has read a file; nil for one that it has not.
    package func fingerprint(ofFileAt path: String) -> String? { view.fingerprint(ofFileAt: path) }

    /// What expressions have said of a file when it was in another state than that of the fingerprint. Of one that the job
    /// has made itself, and makes anew where it is gone (a result, the copy of an input), its size and digests alone.
    package func facts(ofFileAt path: String, otherThan fingerprint: String) -> [Fact: JSON] {
        let isCopy = snapshot.facts.copies.contains(path)
        let known = view.fingerprint(ofFileAt: path)
        guard known != fingerprint, known != nil || isCopy else { return [:] }
        let isResult = snapshot.files.contains { $0.path == path || path.hasPrefix($0.path + "/") }
        var found: [Fact: JSON] = [:]
        for (fact, value) in snapshot.facts where fact.path == path {
            switch fact {
            case .size, .digest: found[fact] = FileFact(value).value
            default: if !isResult, !isCopy { found[fact] = FileFact(value).value }
            }
        }
        return found
    }

    /// Has running steps read what a stage gave while it runs again for fresh captures.
    mutating func keepCaptures(whileRenewing stage: String) { index.keepCaptures(whileRenewing: stage) }

    /// The values that expressions of the step may read at this moment.
    package mutating func scope(for key: StepKey) -> Scope {
        // Kept, for it is asked for at every evaluation.
        if snapshot.submits[key] == nil { view.keepFirstKey(of: key, in: snapshot.record) }
        return currentScope(for: key)
    }

    /// The values of ``scope(for:)``, without keeping anything.
    package func currentScope(for key: StepKey) -> Scope {
        let stage = plan.stage(key.stage)
        let step = snapshot.steps[key]
        var scope = documentScope
        view.fill(&scope, for: key)
        scope.own = step?.captures ?? [:]
        scope.ownKey = snapshot.submits[key]?.key ?? view.firstKey(of: key, in: snapshot.record)
        scope.item = step?.value
        scope.itemIsOwn = plan.hasOwnItems(key.stage)
        scope.index = key.item
        if stage?.isFinal == true {
            for stage in plan.stages {
                guard let made = snapshot.steps[StepKey(stage: stage.id)]?.captures else { continue }
                // Of a repeated stage also what items made that failed, which no other stage reads.
                let isRepeated = stage.forEach != nil && !made.isEmpty
                if scope.stages[stage.id] == nil || isRepeated { scope.stages[stage.id] = .object(made) }
            }
        }
        if let item = key.item, let followed = stage?.forEach?.followed,
            let step = snapshot.steps[StepKey(stage: followed, item: item)]
        {
            scope.stages[followed] = .object(step.captures)
        }
        values.open(&scope)
        if stage?.stage.callback != nil {
            scope.callbackURL = values.callbackURL(snapshot.record.id, key, scope.ownKey ?? "")
        }
        return scope
    }

    /// Captures of a step as they may be kept; warned of once where that is impossible.
    mutating func sealed(_ captures: JSONObject, of key: StepKey) -> JSONObject {
        let sealed = values.sealed(captures)
        if let name = values.lostSecret(of: sealed), values.lostSecret(of: snapshot.steps[key]?.captures ?? [:]) == nil
        {
            let message =
                "what repeats the secret \(name) is not kept without PIPELINE_JOURNAL_KEY, and no stage can use it"
            publish(.stageWarned, ["message": .string(message)], of: key)
        }
        return sealed
    }

    /// The values that expressions outside of all stages may read.
    package var documentScope: Scope {
        snapshot.documentScope(
            environment: values.environment, secrets: values.secrets, secretInputs: values.secretInputs)
    }

    /// Returns when the step's deadline passes; nil for none, or while an expression for it has no value.
    package func deadline(of key: StepKey) -> Timestamp? {
        snapshot.deadline(of: key, in: plan, scope: currentScope(for: key))
    }

    /// Returns when a failed attempt of the step is repeated.
    package func policy(of key: StepKey, _ stage: PlannedStage) -> RetryPolicy {
        stage.retries.isConstant
            ? stage.retry : (try? stage.retries.policy(in: currentScope(for: key))) ?? stage.retry
    }

    /// Until when the captures of a step that has just ended are good; nil for nothing known. A mistake in "expires" is
    /// told by the stage that needs it.
    private func expiry(of key: StepKey, _ state: StepState) -> Timestamp? {
        guard case .succeeded(let captures) = state, let stage = plan.stage(key.stage) else { return nil }
        // A repeated stage has what its items have.
        if stage.forEach != nil, key.item == nil {
            return index.entries[key.stage]?.items.compactMap {
                snapshot.expiry(StepKey(stage: key.stage, item: $0))?.time
            }.min()
        }
        let opened = values.opened(captures)
        if stage.expires == nil {
            return opened.compactMap { LinkExpiry.earliest(in: $0.value, after: moment.time) }.min()
        }
        var scope = currentScope(for: key)
        scope.own = opened
        return (try? stage.expiry(of: opened, endedAt: moment.time, in: scope)) ?? nil
    }

    /// Until when the link that an item was given is good.
    func expiry(ofItem value: JSON) -> Timestamp? { LinkExpiry.earliest(in: values.opened(value), after: moment.time) }

    /// Before this a step must begin, or go on; nil where nothing expires.
    func mustBeginBy(_ key: StepKey) -> Timestamp? {
        index.expiring.isEmpty ? nil : snapshot.mustBeginBy(key, in: plan)
    }

    /// Before this what follows a resume of the step must begin: what a step reads would have expired, or the deadline
    /// of one that waits would pass, since all of the job is held back with it. A while before its deadline, so that
    /// there is time; a stage that keeps its own ends nothing before it has asked once more.
    package mutating func mustResumeBy(_ key: StepKey) -> Timestamp? {
        let own = snapshot.steps[key].flatMap { step -> Timestamp? in
            guard !step.state.isEnded, let stage = plan.stage(key.stage), let started = step.started,
                let deadline = deadline(of: key)
            else { return nil }
            return StepDeadlines.limit(key, stage, started: started, deadline)
        }
        return [own, nextWaitLimit(), mustActBefore()].compactMap { $0 }.min()
    }

    /// The earliest of the times before which a step must begin, or go on; nil where nothing expires.
    mutating func mustActBefore() -> Timestamp? { index.expiring.isEmpty ? nil : expiries.earliest }
}
