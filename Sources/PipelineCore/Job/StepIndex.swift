/// The steps of a job by what moves them on: kept with each change of a step, so that no decision searches them.
///
/// A stage is looked at again (`changed`) when one of its steps, of those that it needs or of those whose items it
/// follows has changed; all other stages have nothing new to decide.
struct StepIndex: Sendable {
    /// One stage and how many of its steps are where. A repeated stage's own step is not counted while it runs: it
    /// does nothing itself.
    struct Entry: Sendable {
        let stage: PlannedStage
        /// The place in the plan's order.
        let order: Int
        /// The state of the stage's own step.
        var own = StepState.Name.pending
        /// The number of the stages that it needs and that have not ended.
        var openNeeds: Int
        var counts = StepCounts()
        /// The items that have a step, in the order in which these were made.
        var items: [Int] = []
        /// The items that may begin, each by the time before which it should.
        var ready = TimeQueue<Int>()
        /// The items that have succeeded.
        var done: Set<Int> = []
        /// Items of the followed stage that have succeeded since the last look, or again.
        var arrived: Set<Int> = []
        /// Steps whose time came while the stage waited for captures.
        var held: [StepKey: Timestamp] = [:]
        /// Bytes that its steps which have succeeded had sent.
        var sentBytes: Int64 = 0
        /// True if its items may have the elements of before the stage ran again that gives them.
        var hasOldElements = false

        var isRepeated: Bool { stage.forEach != nil }
    }

    private(set) var entries: [String: Entry] = [:]
    /// Stages that have something new to decide.
    private(set) var changed: Set<String> = []
    /// All steps of the job together.
    private(set) var counts = StepCounts()
    /// Steps of the main stages that have begun and not ended, repeated stages' own ones too.
    private(set) var openMainSteps = 0
    /// Steps that have failed and make the job fail.
    private(set) var failures: Set<StepKey> = []
    /// Steps whose end is woken by a callback that has come.
    private var called: Set<StepKey> = []
    /// Stages that are to run again while others which need their captures are under way.
    private var rerunning: Set<String> = []
    /// Those of them whose captures of before are still read: they are kept in memory alone.
    private(set) var renewed: Set<String> = []
    private var wakes = TimeQueue<StepKey>()
    /// The bytes that all steps which have succeeded had sent.
    private(set) var sentBytes: Int64 = 0
    /// The steps of which something expires.
    private(set) var expiring: Set<StepKey> = []
    /// The number of steps and stages that were looked at or moved: the law of cost is held by it.
    private var looks = 0
    private let plan: Plan
    private var relations: StageRelations

    init(plan: Plan) {
        self.plan = plan
        relations = StageRelations(plan)
        for (order, stage) in (plan.stages + plan.finally).enumerated() {
            entries[stage.id] = Entry(stage: stage, order: order, openNeeds: stage.isFinal ? 0 : stage.needs.count)
            changed.insert(stage.id)
        }
    }

    /// True if its stages are still to run: none has failed for good, nobody has cancelled it.
    var isWanted: Bool { failures.isEmpty && counts.cancelled == 0 }
    /// True if something new may begin: no step waits for a resume, after which the job will be let go.
    var mayBegin: Bool { counts.manual == 0 }

    // MARK: Keeping

    /// Takes in a step's new row in place of its old one; nil for a step that is new.
    mutating func move(_ key: StepKey, from old: StepRecord?, to new: StepRecord, hasCallback: Bool) {
        guard let before = entries[key.stage] else { return }
        looks += 1
        let (wasWanted, couldBegin, wereFull) = (isWanted, mayBegin, before.counts.full)
        let isOwn = key.item == nil
        let isContainer = isOwn && before.isRepeated
        count(key, old, isContainer: isContainer, by: -1)
        count(key, new, isContainer: isContainer, by: 1)
        if new.state.name == .failed, isOwn, !new.toleratesFailure {
            failures.insert(key)
        } else {
            failures.remove(key)
        }
        if new.expires == nil { expiring.remove(key) } else { expiring.insert(key) }
        entries[key.stage]?.held[key] = nil
        wakes.set(key, to: new.state.wakeTime)
        if hasCallback, new.state.isWokenByCallback { called.insert(key) } else { called.remove(key) }
        if isOwn { moveOwn(key.stage, to: new.state.name) } else { moveItem(key, from: old, to: new) }
        changed.insert(key.stage)
        if wereFull == 0, entries[key.stage]?.counts.full != 0 { releaseReaders(of: key.stage) }
        if openMainSteps == 0 { for stage in plan.finally { changed.insert(stage.id) } }
        if wasWanted != isWanted || couldBegin != mayBegin { lookAtAll() }
    }

    private mutating func count(_ key: StepKey, _ record: StepRecord?, isContainer: Bool, by one: Int) {
        guard let record else { return }
        if !isContainer || record.state.name != .running {
            counts.add(record.state, one)
            entries[key.stage]?.counts.add(record.state, one)
        }
        let isMain = entries[key.stage]?.stage.isFinal == false
        if isMain, !record.state.isEnded, record.state.name != .pending { openMainSteps += one }
        if record.state.name == .succeeded {
            sentBytes += Int64(one) * record.bytesSent
            entries[key.stage]?.sentBytes += Int64(one) * record.bytesSent
        }
    }

    private mutating func moveOwn(_ id: String, to name: StepState.Name) {
        guard let old = entries[id]?.own, let stage = entries[id]?.stage else { return }
        entries[id]?.own = name
        guard old != name else { return }
        noteRerun(of: id)
        if name != .pending, !name.isEnded { for source in stage.needs { noteRerun(of: source) } }
        for other in relations.dependents[id] ?? [] {
            let follows = entries[other]?.stage.forEach?.followed == id
            let (wasDone, isDone) = (old.isDone(for: follows), name.isDone(for: follows))
            if wasDone != isDone { entries[other]?.openNeeds += isDone ? -1 : 1 }
            if name == .succeeded, entries[other]?.stage.renews == id { noteOldElements(of: other) }
            changed.insert(other)
            release(other)
        }
        if name.isEnded { settleElements(of: id) }
        if entries[id]?.stage.isFinal == true { for stage in plan.finally { changed.insert(stage.id) } }
        lookAtFollowed(id)
    }

    /// Notes whether a stage is to run again while others need its captures: who has begun before it ended.
    private mutating func noteRerun(of id: String) {
        guard let entry = entries[id] else { return }
        if entry.own.isEnded {
            rerunning.remove(id)
            renewed.remove(id)
        } else if relations.dependents[id]?.contains(where: { isUnderWay($0, with: id) }) == true {
            rerunning.insert(id)
        }
    }

    private func isUnderWay(_ id: String, with source: String) -> Bool {
        guard let entry = entries[id], entry.stage.goesOn(with: source) else { return false }
        return !entry.own.isEnded && entry.own != .pending
    }

    /// Notes that what a stage gave is still read while it runs again.
    mutating func keepCaptures(whileRenewing stage: String) { renewed.insert(stage) }

    private mutating func moveItem(_ key: StepKey, from old: StepRecord?, to new: StepRecord) {
        guard let item = key.item else { return }
        if old == nil { entries[key.stage]?.items.append(item) }
        let followed = entries[key.stage]?.stage.forEach?.followed
        let isDone = new.state.name == .succeeded
        let mayFollow = followed.map { entries[$0]?.done.contains(item) == true && !hasArrived(item, at: key.stage) }
        let isReady = new.state == .pending && (mayFollow ?? true) && mayBegin(key)
        let limit = new.expires.map { StepExpiry(holder: key, since: new.started ?? .epoch, time: $0).mustActBefore }
        entries[key.stage]?.ready.set(item, to: isReady ? limit ?? Timestamp(milliseconds: .max) : nil)
        lookAtFollowed(key.stage)
        guard isDone != entries[key.stage]?.done.contains(item) else { return }
        if isDone { entries[key.stage]?.done.insert(item) } else { entries[key.stage]?.done.remove(item) }
        for other in relations.followers[key.stage] ?? [] {
            if isDone {
                entries[other]?.arrived.insert(item)
            } else {
                // What follows an item waits for it again.
                entries[other]?.arrived.remove(item)
                entries[other]?.ready.set(item, to: nil)
            }
            changed.insert(other)
        }
    }

    /// Once all steps of a job that was taken up are in: items that have a step already need none. Whether the last owner
    /// had given them their elements after these were renewed, nobody knows.
    mutating func settleArrivals(in steps: [StepKey: StepRecord]) {
        for (id, entry) in entries {
            noteOldElements(of: id)
            for item in entry.arrived {
                let key = StepKey(stage: id, item: item)
                guard let step = steps[key], !step.isDropped else { continue }
                entries[id]?.arrived.remove(item)
                if step.state == .pending { putBack(key, limit: step.expires) }
            }
        }
    }

    private mutating func noteOldElements(of id: String) {
        guard let entry = entries[id], entry.stage.renewsElements, !entry.items.isEmpty, !entry.own.isEnded else {
            return
        }
        entries[id]?.hasOldElements = true
    }

    /// Notes that the items have the elements that they go on with: what was held for want of them is looked at again.
    mutating func settleElements(of id: String) {
        guard entries[id]?.hasOldElements == true else { return }
        entries[id]?.hasOldElements = false
        release(id)
    }

    private func hasArrived(_ item: Int, at stage: String) -> Bool { entries[stage]?.arrived.contains(item) == true }

    /// Stages whose failure waits for what follows their items.
    private mutating func lookAtFollowed(_ id: String) {
        var stage = entries[id]?.stage.forEach?.followed
        while let followed = stage {
            changed.insert(followed)
            stage = entries[followed]?.stage.forEach?.followed
        }
    }

    private mutating func lookAtAll() {
        looks += entries.count
        for id in entries.keys {
            changed.insert(id)
            release(id)
        }
    }

    /// What is held by the stage is looked at again.
    private mutating func releaseReaders(of id: String) {
        if rerunning.contains(id) { for other in relations.dependents[id] ?? [] { release(other) } }
    }

    /// Steps whose time came while their stage waited for captures are looked at again.
    private mutating func release(_ id: String) {
        guard let held = entries[id]?.held else { return }
        entries[id]?.held = [:]
        for (key, time) in held { wakes.set(key, to: time) }
        changed.insert(id)
    }

    /// Notes that a callback came for a step in the state: one that waits for it has come to its time.
    mutating func noteCallback(_ key: StepKey, in state: StepState) {
        if state.isWokenByCallback { called.insert(key) }
    }

    mutating func look(at stage: String) {
        looks += 1
        changed.insert(stage)
    }
    mutating func looked(at stage: String) { changed.remove(stage) }

    // MARK: Asking

    /// Returns whether a stage waits for captures that are on their way: fresh ones, or those that the last owner had.
    func isHeld(_ id: String) -> Bool {
        guard !rerunning.isEmpty, let stage = entries[id]?.stage else { return false }
        return stage.needs.contains { rerunning.contains($0) && isHeld(stage, by: $0) }
    }

    private func isHeld(_ stage: PlannedStage, by source: String) -> Bool {
        guard stage.goesOn(with: source), let entry = entries[source] else { return false }
        if stage.renews != source, renewed.contains(source) { return false }
        switch entry.own {
        case .pending: return isWanted
        // What waits for a place may wait for the one that a held step has.
        case .running, .waiting, .unknown: return stage.renews == source || entry.counts.full == 0
        case .succeeded, .failed, .cancelled, .skipped: return false
        }
    }

    /// Returns whether the items of a stage that have not ended are to be given their elements anew.
    func awaitsElements(_ id: String) -> Bool {
        guard let entry = entries[id], entry.hasOldElements, let source = entry.stage.renews,
            entry.own == .running || entry.own == .waiting
        else { return false }
        return entries[source]?.own == .succeeded
            && entry.counts.pending + entry.counts.active + entry.counts.unknown > 0
    }

    /// Returns whether a step waits for captures, or for its element of them.
    private func isHeld(_ key: StepKey) -> Bool {
        isHeld(key.stage) || key.item != nil && awaitsElements(key.stage)
    }

    /// The steps whose time has come, in the order of the plan.
    mutating func dueSteps(at now: Timestamp) -> [StepKey] {
        var due = called.filter { !isHeld($0) }
        while let key = nextUnheld(), let time = wakes.time(of: key), time <= now {
            wakes.set(key, to: nil)
            due.insert(key)
        }
        looks += due.count
        // They stay due until they are woken.
        for key in due where !called.contains(key) { wakes.set(key, to: now) }
        if due.count < 2 { return Array(due) }
        let places = due.map { (order: order($0.stage), key: $0) }
        return places.sorted { ($0.order, $0.key) < ($1.order, $1.key) }.map(\.key)
    }

    /// Returns when the next wait ends by itself.
    mutating func nextWake() -> Timestamp? { nextUnheld().flatMap { wakes.time(of: $0) } }

    /// The step whose wait is the next to end by itself.
    mutating func nextUnheld() -> StepKey? {
        while let (key, time) = wakes.first {
            guard isHeld(key) else { return key }
            wakes.set(key, to: nil)
            entries[key.stage]?.held[key] = time
        }
        return nil
    }

    /// The number of steps, stages and entries of queues that were looked at so far.
    var work: Int { looks + wakes.work + entries.values.reduce(0) { $0 + $1.ready.work } }

    func order(_ stage: String) -> Int { entries[stage]?.order ?? 0 }

    /// The stages to look at, in the order of the plan.
    var stagesToDecide: [String] {
        changed.map { (order: order($0), id: $0) }.sorted { $0.order < $1.order }.map(\.id)
    }

    /// Takes the next item of a repeated stage that may begin.
    mutating func popReady(of stage: String) -> Int? { entries[stage]?.ready.popFirst() }

    /// Puts an item back that may begin and does not yet.
    mutating func putBack(_ key: StepKey, limit: Timestamp?) {
        guard let item = key.item, mayBegin(key) else { return }
        entries[key.stage]?.ready.set(item, to: limit ?? Timestamp(milliseconds: .max))
    }

    /// Has only one item of repeated stages begin.
    mutating func begin(only item: Int, of stages: Set<String>) {
        for stage in stages {
            relations.only[stage] = item
            for other in entries[stage]?.items ?? [] where other != item { entries[stage]?.ready.set(other, to: nil) }
        }
    }

    /// The only item of a stage that may begin; nil for any.
    func only(of stage: String) -> Int? { relations.only[stage] }

    private func mayBegin(_ key: StepKey) -> Bool { only(of: key.stage).map { $0 == key.item } ?? true }

    /// Takes the items of the followed stage that have succeeded since the last call.
    mutating func takeArrived(of stage: String) -> [Int] {
        let items = entries[stage]?.arrived.sorted() ?? []
        looks += items.count
        entries[stage]?.arrived = []
        return items
    }

    /// The waits of stages that wait for others' captures: they are as far as those.
    var heldCounts: StepCounts {
        var stages: Set<String> = []
        for source in rerunning where !mayBegin || entries[source]?.own != .pending {
            for id in relations.dependents[source] ?? [] {
                if let stage = entries[id]?.stage, isHeld(stage, by: source) { stages.insert(id) }
            }
        }
        var held = StepCounts()
        for id in stages {
            guard let counts = entries[id]?.counts else { continue }
            held.waiting += counts.waiting
            held.manual += counts.manual
        }
        return held
    }

    /// The stages whose items follow this one's.
    func followers(of stage: String) -> [String] { relations.followers[stage] ?? [] }
}

extension StepState {
    /// The time when the wait ends by itself.
    fileprivate var wakeTime: Timestamp? { if case .waiting(_, let wake, _) = self { wake.time } else { nil } }
    fileprivate var isWokenByCallback: Bool {
        if case .waiting(_, let wake, _) = self { wake.endsWithCallback } else { false }
    }
}

extension StepState.Name {
    var isEnded: Bool {
        switch self {
        case .succeeded, .failed, .cancelled, .skipped: true
        case .pending, .running, .waiting, .unknown: false
        }
    }

    /// Returns whether who needs the stage may begin: when it has ended; who follows its items begins with it.
    fileprivate func isDone(for follows: Bool) -> Bool { isEnded || follows && self != .pending }
}
