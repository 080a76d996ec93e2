/// Before when steps must begin, or go on, since something that they have or read expires; kept with each change of a
/// step, so that the earliest is known without a look at all.
///
/// What a step has itself, or of the item that it follows, is kept for the step. What is read of a whole stage is kept
/// for that stage, however many steps read it.
struct StepExpiries: Sendable {
    private var own = TimeQueue<StepKey>()
    /// Before when the captures of stages are to be used that have succeeded.
    private var stages: [String: Timestamp] = [:]
    /// The number of steps of a stage that still read what others gave: they have not begun, or they are transfers.
    private var openReaders: [String: Int] = [:]
    /// The stages that read a stage's captures.
    private let readers: [String: [String]]

    init(_ plan: Plan) {
        var readers: [String: [String]] = [:]
        for stage in plan.stages + plan.finally {
            for source in stage.sources where stage.forEach?.followed != source {
                readers[source, default: []].append(stage.id)
            }
        }
        self.readers = readers
    }

    /// Takes in a step's new row in place of its old one; nil for a step that is new.
    mutating func move(_ key: StepKey, from old: StepRecord?, to new: StepRecord, in job: JobSnapshot, _ plan: Plan) {
        guard let stage = plan.stage(key.stage) else { return }
        let (read, reads) = (old.map(stage.readsOn) ?? false, stage.readsOn(new))
        if read != reads { openReaders[key.stage, default: 0] += reads ? 1 : -1 }
        own.set(key, to: job.ownLimit(of: key, stage))
        guard let item = key.item else {
            stages[key.stage] = job.expiry(key)?.mustActBefore
            return
        }
        guard old?.expires != new.expires || old?.state.name != new.state.name else { return }
        for follower in plan.stages where follower.forEach?.followed == key.stage {
            let following = StepKey(stage: follower.id, item: item)
            if job.steps[following] != nil { own.set(following, to: job.ownLimit(of: following, follower)) }
        }
    }

    /// The earliest of all that have not ended; nil when nothing expires.
    var earliest: Timestamp? {
        mutating get {
            let read = stages.compactMap { stage, time in
                readers[stage]?.contains { openReaders[$0] ?? 0 > 0 } == true ? time : nil
            }.min()
            return [own.first?.time, read].compactMap { $0 }.min()
        }
    }

    /// The number of entries that were moved or met: the law of cost is held by it.
    var work: Int { own.work }
}

extension JobSnapshot {
    /// Before when a step must begin, or go on, for what is its own alone: what was given to it, what the service keeps of
    /// it, what the item gave that it follows.
    fileprivate func ownLimit(of key: StepKey, _ stage: PlannedStage) -> Timestamp? {
        guard let step = steps[key], !step.state.isEnded else { return nil }
        let own = step.expires.map { StepExpiry(holder: key, since: step.started ?? record.started, time: $0) }
        var followed: StepExpiry?
        if let item = key.item, let source = stage.forEach?.followed, stage.readsOn(step),
            stage.sources.contains(source)
        {
            followed = expiry(StepKey(stage: source, item: item))
        }
        return [own, followed].compactMap { $0?.mustActBefore }.min()
    }
}

extension PlannedStage {
    /// The stages whose captures its steps read.
    var sources: Set<String> {
        Set(readCaptures.names.keys).union(readCaptures.expiringElements).union(renews.map { [$0] } ?? [])
    }

    /// Returns whether a step of the stage still reads what others gave: before it begins, and as long as it is a transfer,
    /// whose every request is made of it.
    func readsOn(_ step: StepRecord) -> Bool {
        step.state == .pending || stage.work == .transfer && !step.state.isEnded
    }
}
