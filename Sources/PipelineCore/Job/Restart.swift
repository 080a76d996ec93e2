import JSONPath

/// The changes of the steps of a job that an owner takes up: what was running is tried again at once, what a person
/// wants done again begins again, and so does what wrote a file that is not there and is still read.
struct Restart {
    private let scope: RestartScope
    private let restarted: Set<String>
    /// The stages of which one item begins again.
    private let own: Set<String>
    /// Those and the stages that need them.
    private let reached: Set<String>
    /// The stages that such an item needs, and that failed.
    private let needed: Set<String>
    /// The stages that stay as they are, with failures that their author tolerates.
    private let tolerated: Set<String>
    /// The steps whose files are not there, with the path of one.
    private var lost: [StepKey: String] = [:]
    /// The steps that begin again because others do: what reads a file that is lost and is under way, stages of whose items
    /// one begins again although they succeeded, and what has read these.
    private var affected: Set<StepKey> = []

    init(_ scope: RestartScope, lost files: [WrittenFile] = [], of table: JobTable) {
        self.scope = scope
        restarted = scope.begunAnew(in: table.plan)
        var own: Set<String> = []
        if case .failedItem(let item) = scope {
            let failed = table.snapshot.steps.filter { key, step in key.item == item && step.state.name.isRetried }
            own = Set(failed.map(\.key.stage))
        }
        self.own = own
        reached = own.reduce(into: []) { $0.formUnion(table.plan.dependents(of: $1)) }
        needed = Self.failures(neededBy: own, in: table)
        tolerated = scope == .failed ? Self.tolerated(in: table) : []
        for file in files {
            affected.formUnion(
                FileReaders(job: table.snapshot, plan: table.plan).steps(reading: file).filter { key in
                    table.step(key)?.state.name.isRetried == false || retries(key)
                })
            // A copy of an input is fetched by the stage that reads it.
            guard let key = file.step else { continue }
            lost[key] = file.path
            // The other items of a repeated stage stay as they are.
            if key.item != nil { affected.insert(StepKey(stage: key.stage)) }
        }
        let again = table.snapshot.steps.filter { $0.value.state.name.isRetried && retries($0.key) }.map(\.key)
        for stage in Set(again.map(\.stage)) {
            reopen(stage, in: table)
            let own = table.step(StepKey(stage: stage))
            reopenReaders(of: stage, since: own?.state.name.isRetried == true ? own?.ended : nil, in: table)
        }
    }

    /// The stages that failed, or were cancelled, and without which others can't go on: they can without an optional one.
    private static func failures(neededBy stages: Set<String>, in table: JobTable) -> Set<String> {
        // In the plan's order a stage comes after all that it needs.
        table.plan.stages.reversed().reduce(into: []) { found, stage in
            guard stages.contains(stage.id) || found.contains(stage.id) else { return }
            let failed = stage.needs.filter { id in
                table.step(StepKey(stage: id)).map { $0.state.name.isRetried && !$0.toleratesFailure } ?? false
            }
            found.formUnion(failed.filter { !stages.contains($0) })
        }
    }

    /// The stages whose failures did not make the job fail, where others did: what has read them, and may have been paid for,
    /// stays as it is. Not those that a stage reads which made it fail, nor those that failed because it did.
    private static func tolerated(in table: JobTable) -> Set<String> {
        var (stages, others): (Set<String>, Set<String>) = ([], [])
        for (key, step) in table.snapshot.steps where step.state.name.isRetried {
            if isTolerated(key.stage, in: table) { stages.insert(key.stage) } else { others.insert(key.stage) }
        }
        return others.isEmpty ? [] : stages.filter { !hasFailed($0, with: others, in: table) }
    }

    /// Returns whether the failure of a stage, or of items of it, is one that the job lives with. What was cancelled is none,
    /// nor is a stage of which items had not ended when it was broken off.
    private static func isTolerated(_ stage: String, in table: JobTable) -> Bool {
        guard let own = table.step(StepKey(stage: stage)) else { return false }
        guard own.state.name == .failed else { return own.state.name == .succeeded }
        let items = table.index.entries[stage]?.items ?? []
        return own.toleratesFailure
            && items.allSatisfy { table.step(StepKey(stage: stage, item: $0))?.state.isEnded ?? true }
    }

    /// Returns whether one of the stages that made the job fail reads a stage, or this one needed it and failed after it.
    private static func hasFailed(_ stage: String, with others: Set<String>, in table: JobTable) -> Bool {
        guard let planned = table.plan.stage(stage) else { return false }
        let end = table.step(StepKey(stage: stage))?.ended
        return others.contains { other in
            if table.plan.stage(other)?.reads(stage) == true { return true }
            guard planned.goesOn(with: other), let end, let failed = table.step(StepKey(stage: other))?.ended else {
                return false
            }
            return end >= failed
        }
    }

    /// A stage that succeeded although items of it failed puts them together again. What has read it, or is repeated over
    /// it, begins again as well.
    private mutating func reopen(_ stage: String, in table: JobTable) {
        let own = StepKey(stage: stage)
        guard let state = table.step(own)?.state.name, [.succeeded, .skipped].contains(state),
            affected.insert(own).inserted
        else { return }
        reopenReaders(of: stage, in: table)
    }

    /// - Parameter end: when the stage failed. Who had begun before that has read what it gave earlier, and it failed when it
    ///   ran again for fresh captures: what came of the earlier ones, and may have been paid for, stays.
    private mutating func reopenReaders(of stage: String, since end: Timestamp? = nil, in table: JobTable) {
        for reader in table.plan.stages {
            guard reader.reads(stage) else { continue }
            let isRead = reader.readsWhole(stage)
            let follows = reader.forEach?.followed == stage
            // One that was skipped has not begun; it was left out then.
            let own = table.step(StepKey(stage: reader.id))
            if let end, !follows, let began = own?.started ?? own?.ended, began < end { continue }
            if !follows { reopenItems(of: reader.id, all: isRead, in: table) }
            reopen(reader.id, in: table)
        }
    }

    /// Items that were skipped begin again, perhaps over other elements, and so do all where they read what is made anew.
    /// The others stay for as long as their elements are the same, which is known when these are.
    private mutating func reopenItems(of stage: String, all: Bool, in table: JobTable) {
        guard table.step(StepKey(stage: stage))?.state.isEnded == true else { return }
        for item in table.index.entries[stage]?.items ?? [] {
            let key = StepKey(stage: stage, item: item)
            guard let step = table.step(key), step.state.isEnded, !step.isDropped else { continue }
            if all || step.state == .skipped { affected.insert(key) }
        }
    }

    /// Returns whether the step is tried afresh where it failed or was cancelled.
    private func retries(_ key: StepKey) -> Bool {
        switch scope {
        case .nothing: false
        case .failed: !tolerated.contains(key.stage)
        case .from: true
        case .failedItem(let item):
            needed.contains(key.stage) || reached.contains(key.stage) && (key.item ?? item) == item
        }
    }

    func perform(_ mode: JobMode, in table: inout JobTable) throws(IllegalTransition) {
        try moveSteps(in: &table)
        if case .failedItem(let item) = scope {
            // The others of its stage that have not begun, and those of what follows it item by item, wait for another word.
            let stages = table.plan.stages.reduce(into: own) { found, stage in
                if let followed = stage.forEach?.followed, found.contains(followed) { found.insert(stage.id) }
            }
            table.withIndex { $0.begin(only: item, of: stages) }
        }
        if table.snapshot.ended != nil, scope != .nothing { table.record(.reopened) }
        // Taking a job up answers an earlier pause; a cancellation holds until it is done.
        if let request = table.snapshot.request, request == .pause || scope != .nothing {
            table.record(.answered(request))
        }
        table.record(.taken(mode))
        if table.snapshot.ended == nil { table.recordItem(ItemOutcome(.running)) }
    }

    /// Returns whether what the step had submitted when it failed, or was cancelled, may be at the service: it is looked for
    /// before the step would submit again. What a person gave up isn't, nor what could not be reconciled: who names the
    /// stage then has looked at the service.
    private func isReconciledFirst(_ key: StepKey, _ step: StepRecord, in table: JobTable) -> Bool {
        guard case .from(key.stage) = scope, let submit = table.snapshot.submits[key], submit.isOpen else {
            return false
        }
        switch step.state {
        case .failed(let failure): return failure != .givenUp && !submit.wasLookedForInVain
        case .cancelled: return true
        case .pending, .running, .waiting, .unknown, .succeeded, .skipped: return false
        }
    }

    private func moveSteps(in table: inout JobTable) throws(IllegalTransition) {
        for key in table.snapshot.steps.keys.sorted() {
            guard let step = table.step(key) else { continue }
            if restarted.contains(key.stage) && !isReconciledFirst(key, step, in: table) || affected.contains(key) {
                try Self.restart(key, in: &table)
            } else if let path = lost[key] {
                let warning = "\(path) is not on this machine: stage '\(key.stage)' makes it again"
                try Self.restart(key, warnings: [warning], in: &table)
            } else if retries(key), step.state.name.isRetried {
                try retry(key, step, in: &table)
            } else if let next = try? step.state.apply(.takenUp, at: table.moment.time), next.state != step.state {
                try table.change(key, .takenUp)
            }
        }
        table.judgeEarlyCallbacks(of: table.snapshot.pushes.keys)
    }

    /// A step as if it had never run. A submit of it is a new one: the key's generation grows, and what the last one began
    /// is warned of where it may go on.
    static func restart(
        _ key: StepKey, warnings: [String] = [], in table: inout JobTable
    ) throws(IllegalTransition) {
        let warnings = warnings + [Self.leftBehind(by: key, in: table)].compactMap { $0 }
        let hasElement = key.item != nil && table.plan.stage(key.stage).map { $0.forEach?.followed == nil } == true
        try table.change(key, .restarted, warnings: warnings) { step in
            step = step.restarted()
            // Its stage begins again too, perhaps over others.
            if hasElement { step.value = nil }
        }
        renewSubmit(of: key, in: &table)
        if table.snapshot.pushes[key] != nil { table.record(.callbacksVoided(key)) }
    }

    /// What a step may have begun at the service, when nobody asks about it any more; nil for nothing.
    private static func leftBehind(by key: StepKey, in table: JobTable) -> String? {
        guard let step = table.step(key), let stage = table.plan.stage(key.stage) else { return nil }
        switch step.state {
        case .pending, .succeeded, .skipped: return nil
        case .running, .waiting, .unknown, .failed, .cancelled: break
        }
        let submit = table.snapshot.submits[key]
        switch submit?.phase {
        case nil, .intent, .refused:
            guard step.hasWork(of: stage) else { return nil }
            return "its service was not told that the stage begins again: what was sent to it stays there; 'pipeline "
                + "cancel' before such a retry removes it"
        case .sending, .unknown:
            return "a submit of before (key \(submit?.key ?? "")) may be at its service, which was not asked: "
                + "what was begun there goes on"
        case .submitted:
            guard case .remoteJob = stage.stage.work else { return nil }
            let id = SubmittedCaptures(stage).id(in: step.captures).map { " (\($0))" } ?? ""
            return "its service was not told that the stage begins again: what was begun there\(id) goes on"
        }
    }

    /// A step that failed or was cancelled and is to be tried afresh: its deadline counts again. Where a person gave a submit
    /// up that can't be reconciled, another one goes out.
    private func retry(_ key: StepKey, _ step: StepRecord, in table: inout JobTable) throws(IllegalTransition) {
        if step.state == .failed(.givenUp), table.snapshot.submits[key]?.wasLookedForInVain == true {
            return try Self.restart(key, in: &table)
        }
        try table.change(key, .retried) { step in
            step.ended = nil
            step.started = nil
        }
        Self.reopenSubmit(of: key, in: &table)
    }

    /// A submit that was refused may be sent again, since nothing of it exists at the service.
    static func reopenSubmit(of key: StepKey, in table: inout JobTable) {
        guard var submit = table.snapshot.submits[key], submit.phase == .refused else { return }
        submit.phase = .intent
        submit.sends = 0
        submit.firstSent = nil
        table.record(.submit(key, submit))
    }

    /// Nothing more is to be had of the remote job: the next attempt begins a new one.
    static func forgetRemoteJob(of key: StepKey, in table: inout JobTable) {
        if table.snapshot.submits[key] != nil { forgetWork(of: key, in: &table) }
    }

    /// Nothing of the step is at its service any more: the next attempt begins as the first did.
    static func forgetWork(of key: StepKey, in table: inout JobTable) {
        table.edit(key) { $0.checkpoint = nil }
        if table.snapshot.submits[key] != nil { renewSubmit(of: key, in: &table) }
    }

    /// What is submitted next is another job, under a key of its own.
    static func renewSubmit(of key: StepKey, in table: inout JobTable) {
        let name = table.snapshot.record.submitName(of: key)
        // A step without a submit may send its key all the same, in a PUT for instance.
        let submit = table.snapshot.submits[key] ?? SubmitRecord(of: name)
        table.record(.submit(key, submit.nextGeneration(of: name)))
    }

    /// The step by which a restart is counted: the first that was under way, else what begins next of a job that stood
    /// between two stages, held back for instance. Nil for a job that never began.
    static func firstStep(of table: JobTable, decision: (String) -> StageDecision?) -> StepKey? {
        let steps = table.snapshot.steps
        if let waiting = steps.filter({ $0.value.state.name == .waiting }).map(\.key).min() { return waiting }
        guard steps.values.contains(where: { $0.started != nil }) else { return nil }
        for id in table.index.stagesToDecide {
            switch decision(id) {
            case .begin(let key), .skip(let key): return key
            case .expand, .gather, .beginItems: return StepKey(stage: id)
            case nil: continue
            }
        }
        return nil
    }
}

extension RestartScope {
    /// The stages whose steps begin as if they had never run.
    package func begunAnew(in plan: Plan) -> Set<String> {
        var stages: Set<String> = []
        if case .from(let stage) = self { stages = plan.dependents(of: stage) }
        if self != .nothing { stages.formUnion(plan.finally.map(\.id)) }
        return stages
    }
}

extension JobSnapshot {
    /// Returns the submit of a step that went out and of which nobody knows whether the service took it; nil where it is
    /// known, or the step has ended all the same. Only in a job that nobody runs: else the response may be on its way.
    package func openSubmit(of key: StepKey) -> SubmitRecord? {
        guard steps[key]?.state.isEnded == false, let submit = submits[key], submit.isOpen else { return nil }
        return submit
    }

    /// The command that reconciles an open submit, for a person.
    package var reconcilingCommand: String { "pipeline resume \(record.id), which reconciles it as 'once' says" }

    /// Returns whether a step would be submitted anew although nobody knows whether the service took its last submit.
    package func hasOpenSubmit(begunAnewBy scope: RestartScope, in plan: Plan) -> Bool {
        let stages = scope.begunAnew(in: plan)
        return steps.contains { key, step in
            stages.contains(key.stage) && (step.state.name == .unknown || openSubmit(of: key) != nil)
        }
    }

    /// Returns whether a stage that failed begins remote jobs again when it is retried, its own or its items': the last
    /// ones are over, or gone.
    package func submitsAgain(_ stage: String) -> Bool {
        submits.contains { $0.key.stage == stage && steps[$0.key]?.state.name == .failed && Self.isRenewed($0.value) }
    }

    /// The submits of a stage whose remote jobs were said to have failed, or to be gone, as they were before that: for a poll
    /// that knows better. What the service had said of them is still there; nothing was sent since.
    package func remoteJobsGivenUp(of stage: PlannedStage) -> [StepKey: SubmitRecord] {
        let names = SubmittedCaptures(stage).names
        return submits.reduce(into: [:]) { found, entry in
            let (key, submit) = entry
            guard key.stage == stage.id, let step = steps[key], step.state.name == .failed, Self.isRenewed(submit),
                submit.lastSent == nil, !names.isEmpty, names.allSatisfy({ step.captures[$0] != nil })
            else { return }
            var before = SubmitRecord(
                of: record.submitName(of: key), generation: submit.generation - 1, digest: submit.digest)
            before.phase = .submitted
            before.sends = 1
            found[key] = before
        }
    }

    /// The steps of a job that has ended which failed, or were cancelled, and have something at their services that no
    /// submit stands for, as the parts of an upload, and that their stages can remove.
    package func workLeft(in plan: Plan) -> [StepKey] {
        guard ended != nil else { return [] }
        return steps.filter { key, step in
            guard step.state.name.isRetried, let stage = plan.stage(key.stage) else { return false }
            return step.hasWork(of: stage) && [nil, .intent, .refused].contains(submits[key]?.phase)
        }.keys.sorted()
    }

    private static func isRenewed(_ submit: SubmitRecord) -> Bool {
        // What never was a submit has no digest.
        return submit.phase == .intent && submit.generation > 1 && !submit.digest.isEmpty
    }

    /// True if something of it failed or was cancelled, also where the job succeeded all the same.
    package var hasFailures: Bool { steps.values.contains { $0.state.name.isRetried } }
}

extension JobSnapshot {
    /// The steps that have failed, or were cancelled, and stay so when the job is taken up with a scope: for these nothing
    /// begins of it.
    package func obstacles(to scope: RestartScope, in plan: Plan, at time: Timestamp) -> [StepKey] {
        var table = table(in: plan, at: time)
        guard (try? Restart(scope, of: table).perform(.attached, in: &table)) != nil, !table.index.isWanted else {
            return []
        }
        let cancelled = table.snapshot.steps.filter { $0.value.state == .cancelled }.keys
        return table.index.failures.union(cancelled).sorted()
    }
}

extension StepState.Name {
    /// True if a retry begins such a step again.
    package var isRetried: Bool { self == .failed || self == .cancelled }
}

extension StepRecord {
    /// Returns whether its checkpoint tells of something at the service that a cancellation removes there.
    fileprivate func hasWork(of stage: PlannedStage) -> Bool {
        guard stage.stage.cancelsWork, let checkpoint else { return false }
        return stage.stage.standsAlone?(checkpoint) == true
    }
}
