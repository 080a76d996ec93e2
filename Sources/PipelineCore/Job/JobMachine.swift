/// Chooses what a job does next: a pure function of its plan, what is known of it, and the time.
public struct JobMachine: Sendable {
    private let plan: Plan
    private let rooms: [String: Int]

    /// - Parameter rooms: how many items of a repeated stage may run at a time, where an expression says it.
    public init(plan: Plan, rooms: [String: Int] = [:]) {
        self.plan = plan
        self.rooms = rooms
    }

    /// One thing to do next.
    public enum Decision: Sendable, Hashable {
        /// All that the step needs has ended: evaluate its `when`, then start or skip it.
        case begin(StepKey)
        /// The step reads a capture of a skipped stage.
        case skip(StepKey)
        /// The time of a waiting step has come.
        case wake(StepKey)
        /// More items of a stage are at hand: make their steps.
        case expand(StepKey)
        /// All items of a stage that will run have ended: put their captures together, or fail it.
        case gather(StepKey)
    }

    /// What can be done at the time; empty when only something from outside moves the job on.
    public func decisions(for job: JobSnapshot, at time: Timestamp) -> [Decision] {
        let will = Will(isWanted: job.isWanted, begins: !job.isBeingSuspended)
        let main = plan.stages.flatMap { decisions(stage: $0, job, will, at: time) }
        if !main.isEmpty || plan.finally.isEmpty || !isAtRest(plan.stages, of: job) { return main }
        return finalDecisions(job, Will(isWanted: true, begins: will.begins), at: time)
    }

    /// What holds for all stages: found out once, for each answer is a look at every step.
    private struct Will {
        /// Whether stages are still to run.
        let isWanted: Bool
        /// Whether nothing is waited for that lets the job go.
        let begins: Bool
    }

    private func finalDecisions(_ job: JobSnapshot, _ will: Will, at time: Timestamp) -> [Decision] {
        // One after the other: the first that has not ended is the only one that may move.
        let next = plan.finally.first { job.steps[StepKey(stage: $0.id)]?.state.isEnded == false }
        return next.map { decisions(stage: $0, job, will, at: time) } ?? []
    }

    private func decisions(
        stage: PlannedStage, _ job: JobSnapshot, _ will: Will, at time: Timestamp
    ) -> [Decision] {
        let key = StepKey(stage: stage.id)
        guard let step = job.steps[key] else { return [] }
        let items = stage.forEach == nil ? [:] : job.items(of: stage.id)
        let isHeld = isHeld(stage, job, mayBegin: will.isWanted)
        let wakes = isHeld ? [] : items.compactMap { wake($0.key, $0.value, isPushed: job.hasPush($0.key), at: time) }
        switch step.state {
        case .pending: return will.isWanted && will.begins ? beginning(stage, key, job).map { [$0] } ?? [] : []
        case .waiting where isHeld: return wakes
        case .waiting: return (wake(key, step, isPushed: job.hasPush(key), at: time).map { [$0] } ?? []) + wakes
        case .running where stage.forEach != nil:
            // Without fresh captures no item begins.
            return wakes + (isHeld && will.isWanted ? [] : next(of: items, stage, key, job, will))
        case .running, .unknown, .succeeded, .failed, .cancelled, .skipped: return wakes
        }
    }

    /// Whether a stage waits for fresh captures that are on their way.
    private func isHeld(_ stage: PlannedStage, _ job: JobSnapshot, mayBegin: Bool) -> Bool {
        guard let source = stage.renews, let state = job.steps[StepKey(stage: source)]?.state else { return false }
        return state == .pending ? mayBegin : state.isActive || state.name == .unknown
    }

    private func wake(
        _ key: StepKey, _ step: StepRecord, isPushed: Bool, at time: Timestamp
    ) -> Decision? {
        guard case .waiting(_, let wake, _) = step.state else { return nil }
        if wake.endsWithCallback, isPushed { return .wake(key) }
        guard let due = wake.time, due <= time else { return nil }
        return .wake(key)
    }

    private func beginning(_ stage: PlannedStage, _ key: StepKey, _ job: JobSnapshot) -> Decision? {
        let states = stage.needs.map { job.steps[StepKey(stage: $0)]?.state }
        let followed = stage.forEach?.followed
        let isReady = zip(stage.needs, states).allSatisfy { need, state in
            // A stage that follows another's items begins with it, not after it.
            state?.isEnded == true || need == followed && state?.name != .pending
        }
        guard isReady else { return nil }
        let isWithoutSource = stage.reads.union(followed.map { [$0] } ?? [])
            .contains { job.steps[StepKey(stage: $0)]?.state.name == .skipped }
        return isWithoutSource ? .skip(key) : .begin(key)
    }

    /// The next of a repeated stage's items.
    private func next(
        of items: [StepKey: StepRecord], _ stage: PlannedStage, _ key: StepKey, _ job: JobSnapshot, _ will: Will
    ) -> [Decision] {
        if will.isWanted, hasNewItems(stage, items, job) { return will.begins ? [.expand(key)] : [] }
        let active = items.count { $0.value.state.isActive }
        let pending = inOrder(items.filter { $0.value.state.name == .pending }.map(\.key), of: stage, job)
        let room = max(0, (rooms[stage.id] ?? stage.concurrency?.constant ?? 4) - active)
        if will.isWanted, !pending.isEmpty { return will.begins ? pending.prefix(room).map(Decision.begin) : [] }
        let isUnknown = items.contains { $0.value.state.name == .unknown }
        let isComplete = stage.forEach?.followed.map { job.steps[StepKey(stage: $0)]?.state.isEnded == true } ?? true
        return active == 0 && !isUnknown && (isComplete || !will.isWanted) ? [.gather(key)] : []
    }

    /// Items in the order in which they begin where not all may at once: what expires first comes first.
    private func inOrder(_ items: [StepKey], of stage: PlannedStage, _ job: JobSnapshot) -> [StepKey] {
        let sorted = items.sorted()
        guard job.steps.contains(where: { $0.value.expires != nil }) else { return sorted }
        let latest = Timestamp(milliseconds: .max)
        let pressed = sorted.map { (key: $0, limit: job.mustBeginBy($0, in: plan) ?? latest) }
        return pressed.sorted { ($0.limit, $0.key) < ($1.limit, $1.key) }.map(\.key)
    }

    /// Whether the followed stage has items that succeeded and have no step here yet.
    private func hasNewItems(_ stage: PlannedStage, _ items: [StepKey: StepRecord], _ job: JobSnapshot) -> Bool {
        guard let followed = stage.forEach?.followed else { return false }
        return job.items(of: followed).contains { key, step in
            step.state.name == .succeeded && items[StepKey(stage: stage.id, item: key.item)] == nil
        }
    }

    /// When the next wait ends by itself.
    public func nextWake(of job: JobSnapshot) -> Timestamp? {
        let isWanted = job.isWanted
        return job.steps.compactMap { key, step -> Timestamp? in
            guard case .waiting(_, let wake, _) = step.state else { return nil }
            let isHeld = plan.stage(key.stage).map { self.isHeld($0, job, mayBegin: isWanted) } ?? false
            return isHeld ? nil : wake.time
        }.min()
    }

    /// Whether nothing of the stages is under way or waits for its time.
    private func isAtRest(_ stages: [PlannedStage], of job: JobSnapshot) -> Bool {
        let ids = Set(stages.map(\.id))
        return job.steps.allSatisfy { key, step in
            guard ids.contains(key.stage) else { return true }
            return step.state.isEnded || step.state.name == .pending
        }
    }

    /// How the job stands when nothing runs and nothing can be decided; nil while something is still to come.
    public func rest(of job: JobSnapshot) -> Rest? {
        let (isWanted, isBeingSuspended) = (job.isWanted, job.isBeingSuspended)
        let states = job.steps.compactMap { key, step -> StepState? in
            // What waits for another stage is as far as that one.
            if step.state.name == .waiting, let stage = plan.stage(key.stage),
                isHeld(stage, job, mayBegin: isWanted),
                isBeingSuspended || job.steps[StepKey(stage: stage.renews ?? "")]?.state.name != .pending
            {
                return nil
            }
            // A repeated stage is what its items are.
            let isRepeated = key.item == nil && plan.stage(key.stage)?.forEach != nil
            return isRepeated && step.state.name == .running ? nil : step.state
        }
        if states.contains(where: { if case .waiting(_, let wake, _) = $0 { wake != .resume } else { false } }) {
            return nil
        }
        if states.contains(where: { $0.name == .running }) { return nil }
        if states.contains(where: { $0.name == .waiting }) { return .needsResume }
        if states.contains(where: { $0.name == .unknown }) { return .unknown }
        return .ended(job.outcome)
    }

    /// Whether nothing of the job is left to do but to end it.
    public func isOver(_ job: JobSnapshot, at time: Timestamp) -> Bool {
        guard case .ended = rest(of: job) else { return false }
        return decisions(for: job, at: time).isEmpty
    }

    /// What a job that does nothing more by itself has come to.
    public enum Rest: Sendable, Hashable {
        case ended(JobPhase)
        /// A submit must be settled by a person.
        case unknown
        /// A step waits for a resume.
        case needsResume
    }
}

extension JobSnapshot {
    /// The steps of a repeated stage's items.
    public func items(of stage: String) -> [StepKey: StepRecord] {
        steps.filter { $0.key.stage == stage && $0.key.item != nil }
    }

    /// Whether a push for the step has woken nothing yet.
    public func hasPush(_ key: StepKey) -> Bool { (pushes[key]?.waiting ?? 0) > 0 }

    /// Whether its stages are still to run: none has failed for good, nobody has cancelled it.
    var isWanted: Bool { failure == nil && !isCancelled }

    /// Whether a step can go on only after a resume: for want of a secret, or of a network. What has begun beside it goes
    /// on to its end, nothing new begins, and then the job is let go.
    var isBeingSuspended: Bool { steps.values.contains { $0.state.waitsForResume } }

    /// Why a job is let go of which a step waits for a resume, and what is missing.
    public var wantedResume: (cause: SuspensionCause, detail: String?) {
        let reasons = steps.sorted { $0.key < $1.key }.compactMap { _, step -> WaitReason? in
            if case .waiting(_, .resume, let reason) = step.state { reason } else { nil }
        }
        let secret = reasons.first { $0.kind == .secret }
        return (secret == nil ? .noNetwork : .secret, (secret ?? reasons.first)?.detail)
    }

    /// Whether a step of the job was cancelled.
    var isCancelled: Bool { steps.values.contains { $0.state.name == .cancelled } }
}

extension StepState {
    /// Whether only a resume moves it on.
    fileprivate var waitsForResume: Bool { if case .waiting(_, .resume, _) = self { true } else { false } }

    /// Whether something is under way, or will be when its time comes.
    var isActive: Bool {
        switch self {
        case .running, .waiting: true
        case .pending, .unknown, .succeeded, .failed, .cancelled, .skipped: false
        }
    }
}
