/// The times when deadlines of steps that have begun pass, the earliest first.
struct StepDeadlines: Sendable {
    /// Those that the engine keeps, until they have passed: each is acted on once.
    private var kept = TimeQueue<StepKey>()
    /// Before which a step that waits must go on.
    private var waits = TimeQueue<StepKey>()

    mutating func set(_ key: StepKey, _ step: StepRecord, _ stage: PlannedStage?, to deadline: Timestamp?) {
        guard let stage else { return }
        kept.set(key, to: stage.keepsOwnDeadline || step.state.name == .unknown ? nil : deadline)
        let isWaiting = step.state.name == .waiting
        waits.set(
            key,
            to: isWaiting
                ? deadline.flatMap { time in step.started.map { Self.limit(key, stage, started: $0, time) } } : nil)
    }

    /// A while before the deadline, so that there is time; a stage that keeps its own ends nothing before it has asked
    /// once more.
    static func limit(_ key: StepKey, _ stage: PlannedStage, started: Timestamp, _ deadline: Timestamp) -> Timestamp {
        stage.keepsOwnDeadline
            ? deadline : StepExpiry(holder: key, since: started, time: deadline).mustActBefore
    }

    mutating func takeDue(at now: Timestamp) -> [StepKey] {
        var due: [StepKey] = []
        while let key = kept.popDue(at: now) { due.append(key) }
        return due.sorted()
    }

    /// The number of entries that were moved or met: the law of cost is held by it.
    var work: Int { kept.work + waits.work }

    var next: Timestamp? { mutating get { kept.first?.time } }
    var nextWaitLimit: Timestamp? { mutating get { waits.first?.time } }
}

extension JobTable {
    /// Returns whether a deadline that the engine keeps has passed.
    func isOverdue(_ key: StepKey) -> Bool {
        guard plan.stage(key.stage)?.keepsOwnDeadline == false, let deadline = deadline(of: key) else { return false }
        return deadline <= moment.time
    }

    /// Returns the submit of a step whose deadline has passed of which nobody knows whether the service took it; nil without
    /// one, and where the stage's next call finds that out.
    func overdueSubmit(of key: StepKey) -> UnknownSubmit? {
        guard let submit = snapshot.submits[key], submit.isOpen, plan.stage(key.stage)?.stage.settlesSubmit == false
        else { return nil }
        return UnknownSubmit(
            key: submit.key, since: submit.firstSent ?? moment.time, reason: overdueFailure(of: key).title)
    }

    func overdueFailure(of key: StepKey) -> StepFailure {
        let started = step(key)?.started?.description ?? ""
        return StepFailure(
            "stage '\(key)' did not end before its deadline",
            hint: "it began at \(started); a longer \"deadline\" gives it more time",
            place: plan.stage(key.stage)?.place)
    }
}
