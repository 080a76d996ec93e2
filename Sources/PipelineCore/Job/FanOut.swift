import JSONPath

/// The items of repeated stages: their steps are made, begun as far as there is room, and put together at the end.
struct FanOut: Sendable {
    /// The settings of the document around a stage's items, once it was evaluated.
    private var limits: [String: ForEachItems] = [:]
    /// Stages whose items are being found out.
    private var expanding: Set<String> = []
    /// Why the items of stages can't go on with what these are repeated over by now.
    private var mismatches: [String: StepFailure] = [:]

    func isExpanding(_ stage: String) -> Bool { expanding.contains(stage) }

    /// The items were put together: nothing is decided on the stage any more.
    mutating func close(_ stage: String) { expanding.insert(stage) }

    /// It was not found out what the stage is repeated over.
    mutating func drop(_ stage: String) { expanding.remove(stage) }

    /// Returns whether what bounds the stage's items has to be evaluated first.
    func isUnknown(_ stage: PlannedStage) -> Bool { limits[stage.id] == nil && !stage.hasConstantLimits }

    private func concurrencyLimit(_ stage: PlannedStage) -> Int {
        limits[stage.id]?.concurrencyLimit ?? stage.concurrency?.constant ?? 4
    }

    private func tolerance(_ stage: PlannedStage) -> FailureTolerance {
        limits[stage.id]?.tolerance ?? stage.tolerance?.constant ?? .count(0)
    }

    /// Returns how many items may begin now.
    func room(of entry: StepIndex.Entry) -> Int {
        max(0, min(concurrencyLimit(entry.stage) - entry.counts.active, entry.ready.count))
    }

    /// Returns whether a step of the stage may begin for all that has become of others while it was prepared.
    func mayBegin(_ stage: PlannedStage, in table: JobTable) -> Bool {
        if stage.isFinal { return true }
        guard table.index.isWanted, table.index.mayBegin else { return false }
        return stage.forEach == nil || table.index.entries[stage.id].map(isStopped) != true
    }

    /// Returns whether no further item begins, since one has failed or may have, or all are others by now.
    func isStopped(_ entry: StepIndex.Entry) -> Bool {
        mismatches[entry.stage.id] != nil
            || entry.counts.failed + entry.counts.unknown > 0 && stopsOnFailure(entry.stage)
    }

    private func stopsOnFailure(_ stage: PlannedStage) -> Bool {
        limits[stage.id]?.stopsOnFailure ?? stage.stopsOnFailure.constant ?? false
    }

    /// Returns whether the stage fails as its items are.
    func fails(_ entry: StepIndex.Entry, in table: JobTable) -> Bool {
        if table.tolerates(entry.stage) { return false }
        if mismatches[entry.stage.id] != nil { return true }
        return entry.counts.failed > 0
            && tolerance(entry.stage).isExceeded(failures: entry.counts.failed, items: entry.items.count)
    }

    /// Returns whether items of other stages that follow this one's are still under way or to come.
    func isFollowed(_ entry: StepIndex.Entry, in table: JobTable) -> Bool {
        let index = table.index
        return index.followers(of: entry.stage.id).contains { id in
            guard let follower = index.entries[id] else { return false }
            switch follower.own {
            case .pending:
                // Not one that itself waits for this stage's end.
                let later = table.plan.dependents(of: entry.stage.id)
                return follower.stage.needs.allSatisfy { need in
                    need == entry.stage.id || index.entries[need]?.own.isEnded == true || !later.contains(need)
                }
            case .running:
                let mayBegin = !isStopped(follower)
                return follower.counts.active + follower.counts.unknown > 0
                    || mayBegin && !(follower.ready.isEmpty && follower.arrived.isEmpty)
                    || isFollowed(follower, in: table)
            case .waiting, .unknown: return true
            case .succeeded, .failed, .cancelled, .skipped: return false
            }
        }
    }

    /// Makes the steps of items that have arrived of a stage that is followed; false when it must be found out first what
    /// the stage is repeated over.
    mutating func followsOn(_ stage: PlannedStage, in table: inout JobTable) -> Bool {
        guard stage.forEach?.followed != nil, limits[stage.id] != nil else {
            expanding.insert(stage.id)
            return false
        }
        expanding.remove(stage.id)
        follow(stage, in: &table)
        return true
    }

    /// Returns whether items of the stage have no element yet, or are to have theirs anew. Others keep theirs, whichever
    /// process goes on with them.
    func wantsElements(of stage: PlannedStage, in table: JobTable) -> Bool {
        if stage.forEach?.followed != nil { return false }
        let items = (table.index.entries[stage.id]?.items ?? []).compactMap { item in
            table.step(StepKey(stage: stage.id, item: item))
        }
        return items.isEmpty || table.index.awaitsElements(stage.id)
            || items.contains { $0.state == .pending && $0.value == nil }
            || areOfBefore(items, table.step(StepKey(stage: stage.id))?.started)
    }

    /// Returns whether the stage has begun again and none of its items since: its owner died before these were compared
    /// with their elements.
    private func areOfBefore(_ items: [StepRecord], _ begun: Timestamp?) -> Bool {
        guard let begun, items.contains(where: \.state.isEnded) else { return false }
        return items.allSatisfy { item in
            item.state.attempt == nil && item.ended.map { $0 < begun } ?? true
        }
    }

    /// Takes in what the stage is repeated over, and what bounds that.
    mutating func expand(
        _ stage: PlannedStage, _ items: ForEachItems, in table: inout JobTable
    ) throws(IllegalTransition) {
        limits[stage.id] = items
        expanding.remove(stage.id)
        if let elements = items.elements {
            try take(elements, stage, in: &table)
        } else {
            follow(stage, in: &table)
        }
    }

    /// Makes the steps of followed items that have none yet.
    private mutating func follow(_ stage: PlannedStage, in table: inout JobTable) {
        for item in table.withIndex({ $0.takeArrived(of: stage.id) }) {
            let source = StepKey(stage: stage.forEach?.followed ?? "", item: item)
            let value = table.step(source)?.value ?? .null
            make(StepKey(stage: stage.id, item: item), value, stage, in: &table)
        }
    }

    /// Gives the items that have not ended their elements. An item is known by its number alone: once some have begun,
    /// an array of another length can't be told from one of other elements.
    private mutating func take(
        _ elements: [JSON], _ stage: PlannedStage, in table: inout JobTable
    ) throws(IllegalTransition) {
        if let secret = table.plan.elementSecret(of: stage) { table.values.add(elements, madeOf: secret) }
        let items = places(of: stage, in: table).compactMap { table.step(StepKey(stage: stage.id, item: $0)) }
        table.withIndex { $0.settleElements(of: stage.id) }
        mismatches[stage.id] = nil
        // Where none is under way each is compared with its element, unless that is made anew.
        let isBound = stage.renewsElements || items.contains { $0.state.attempt != nil }
        if items.count != elements.count, items.contains(where: { $0.attempts > 0 || $0.state != .pending }), isBound {
            // Those that have ended are what they were.
            guard items.contains(where: { !$0.state.isEnded }) else { return }
            let said = "gives \(elements.count) elements, and gave \(items.count) when its items began"
            return try refuse(said, stage, in: &table)
        }
        let before = stage.renewsElements ? items.map { table.values.opened($0.value ?? .null) } : []
        if Self.isReordered(before, elements) {
            return try refuse("gives its elements in another order than when its items began", stage, in: &table)
        }
        for (item, value) in elements.enumerated() {
            make(StepKey(stage: stage.id, item: item), table.values.sealed(value), stage, in: &table)
        }
        for item in places(of: stage, in: table) where item >= elements.count {
            let key = StepKey(stage: stage.id, item: item)
            if table.step(key)?.state.isEnded == true { try Restart.restart(key, in: &table) }
        }
        drop(stage, in: &table) { $0 >= elements.count }
    }

    /// Returns whether a list that was made anew has the elements of before in another order. An element with a fresh link is
    /// known by all that stands before the link's query.
    private static func isReordered(_ before: [JSON], _ now: [JSON]) -> Bool {
        func name(_ element: JSON) -> String {
            element.mapped(
                string: { .string(String($0.prefix { $0 != "?" })) }, number: { .number($0) }
            ).text
        }
        let (former, fresh) = (before.map(name), now.map(name))
        return former != fresh && former.sorted() == fresh.sorted()
    }

    /// Begins no more items, and fails those that wait for a fresh element; the others under way keep theirs.
    private mutating func refuse(
        _ said: String, _ stage: PlannedStage, in table: inout JobTable
    ) throws(IllegalTransition) {
        let again = "pipeline retry \(table.snapshot.record.id) --from \(stage.id)"
        let failure = StepFailure(
            "'forEach' of stage '\(stage.id)' \(said)",
            hint: "an item is known by its number: let the list keep its length and order when it is made anew, "
                + "or write one stage for each item; \(again) begins all items again",
            place: stage.place)
        mismatches[stage.id] = failure
        for item in places(of: stage, in: table) {
            let key = StepKey(stage: stage.id, item: item)
            guard case .waiting(_, _, let reason) = table.step(key)?.state, reason.kind == .renewal else { continue }
            try table.change(key, .woken)
            try table.change(
                key, .tryFailed(AttemptFailure(failure, kind: .definite), stage.retry, random: 0))
        }
    }

    /// Items of an earlier run that the stage no longer has.
    private func drop(_ stage: PlannedStage, in table: inout JobTable, where isGone: (Int) -> Bool) {
        for item in table.index.entries[stage.id]?.items ?? [] where isGone(item) {
            let key = StepKey(stage: stage.id, item: item)
            guard table.step(key)?.state == .pending else { continue }
            try? table.change(key, .skipped) { $0.value = nil }
        }
    }

    /// Makes an item's step, or gives one its new value, sealed: what follows an item only until it has begun.
    private func make(_ key: StepKey, _ value: JSON, _ stage: PlannedStage, in table: inout JobTable) {
        guard let step = table.step(key) else {
            var step = StepRecord(toleratesFailure: table.tolerates(stage), value: value)
            step.expires = table.expiry(ofItem: value)
            table.add(key, step)
            return rank(key, in: &table)
        }
        // The stage has it again, or another in its place.
        if step.isDropped || isOther(step, value, stage, in: table) { try? Restart.restart(key, in: &table) }
        let isPending = table.step(key)?.state == .pending
        guard isPending || !step.state.isEnded && stage.forEach?.followed == nil else { return }
        if step.value != value {
            let (expires, now) = (table.expiry(ofItem: value), table.moment.time)
            table.edit(key) { step in
                step.value = value
                // Of one under way it is also kept until when the service has what was sent.
                if isPending || step.expires.map({ $0 <= now }) == true { step.expires = expires }
            }
        }
        if isPending { rank(key, in: &table) }
    }

    /// Returns whether an item that has run and is not under way has another element by now; where its stage has them made
    /// anew, it is the same element.
    private func isOther(_ step: StepRecord, _ value: JSON, _ stage: PlannedStage, in table: JobTable) -> Bool {
        guard stage.forEach?.followed == nil, !stage.renewsElements, step.state.attempt == nil,
            step.state.isEnded || step.attempts > 0, let before = step.value
        else { return false }
        return table.values.opened(before) != table.values.opened(value)
    }

    /// Items of which something expires begin first.
    private func rank(_ key: StepKey, in table: inout JobTable) {
        let limit = table.mustBeginBy(key)
        table.withIndex { $0.putBack(key, limit: limit) }
    }

    /// The way in which a repeated stage ends whose items have ended.
    enum Gathering {
        /// Its captures are the items' in order; null where one failed or was skipped.
        case captures(JSONObject)
        case failure(StepFailure)
    }

    /// Puts the items of a stage together.
    mutating func gather(_ stage: PlannedStage, in table: inout JobTable) -> Gathering {
        if stage.forEach?.followed != nil, table.index.isWanted {
            // What it followed before and what has not come again.
            let done = table.index.entries[stage.forEach?.followed ?? ""]?.done ?? []
            drop(stage, in: &table) { !done.contains($0) }
        }
        let items = places(of: stage, in: table).compactMap { item -> (Int, StepRecord)? in
            table.step(StepKey(stage: stage.id, item: item)).map { (item, $0) }
        }
        guard let failure = failure(of: stage, items, in: table) else {
            return .captures(captures(of: stage, in: table))
        }
        let made = made(by: stage, in: table)
        if !made.isEmpty { table.edit(StepKey(stage: stage.id)) { $0.captures = made } }
        return .failure(failure)
    }

    /// Keeps what the items of stages that were cancelled gave.
    func keepMadeOfCancelled(in table: inout JobTable) {
        for stage in table.plan.stages where stage.forEach != nil {
            guard table.step(StepKey(stage: stage.id))?.state == .cancelled else { continue }
            let made = made(by: stage, in: table)
            if !made.isEmpty { table.edit(StepKey(stage: stage.id)) { $0.captures = $0.captures.merging(made) } }
        }
    }

    /// Returns what the items of a stage gave that succeeds although some failed, for the stages that clean up. Empty for any
    /// other step.
    func madeDespiteFailures(by key: StepKey, in table: JobTable) -> JSONObject {
        guard key.item == nil, let entry = table.index.entries[key.stage], entry.isRepeated, entry.counts.failed > 0
        else { return [:] }
        return made(by: entry.stage, in: table)
    }

    /// Returns what the items of a stage gave of which not all came to a good end, for the stages that clean up: what those
    /// made that failed or were cancelled too. Empty where they gave nothing.
    func made(by stage: PlannedStage, in table: JobTable) -> JSONObject {
        let captures = captures(of: stage, in: table, evenOfFailed: true)
        return captures.contains { $0.value.array?.contains { $0 != .null } == true } ? captures : [:]
    }

    /// The failure of a stage whose items have come as far as they will; nil when it has succeeded.
    private func failure(
        of stage: PlannedStage, _ items: [(Int, StepRecord)], in table: JobTable
    ) -> StepFailure? {
        if let mismatch = mismatches[stage.id] { return mismatch }
        let failed = items.compactMap { item, step -> (Int, StepFailure)? in
            if case .failed(let failure) = step.state { (item, failure) } else { nil }
        }
        if !table.tolerates(stage),
            tolerance(stage).isExceeded(failures: failed.count, items: items.count)
        {
            return Self.failure(of: failed, amongst: items.count)
        }
        if items.contains(where: { !$0.1.state.isEnded }) {
            if !failed.isEmpty, stopsOnFailure(stage) {
                var failure = Self.failure(of: failed, amongst: items.count)
                failure.title += "; with 'stopOnFailure' no more items began"
                return failure
            }
            if let only = table.index.only(of: stage.id) {
                return StepFailure(
                    "not all items of stage '\(stage.id)' have run: only item \(only) was to be tried again",
                    place: stage.place)
            }
            return StepFailure(
                "not all items of stage '\(stage.id)' ran, since another stage failed", place: stage.place)
        }
        // What followed the items that succeeded is done; those that a retry brings are followed then.
        if let followed = stage.forEach?.followed, table.step(StepKey(stage: followed))?.endsItsFollowers == true {
            return StepFailure("stage '\(followed)', whose items it follows, failed", place: stage.place)
        }
        return nil
    }

    /// The captures of a stage's items in order; null where one was skipped, and where it failed or has not ended unless what
    /// it gave till then is wanted too.
    private func captures(of stage: PlannedStage, in table: JobTable, evenOfFailed: Bool = false) -> JSONObject {
        var names = stage.captures.map(\.name)
        var known = Set(names)
        let steps = allPlaces(of: stage, in: table).map { table.step(StepKey(stage: stage.id, item: $0)) }
        for step in steps {
            for member in step?.captures ?? [:] where known.insert(member.name).inserted { names.append(member.name) }
        }
        var captures = JSONObject()
        for name in names {
            captures[name] = .array(
                steps.map { step in
                    if case .succeeded(let values)? = step?.state { return values[name] ?? .null }
                    return evenOfFailed ? step?.captures[name] ?? .null : .null
                })
        }
        return captures
    }

    /// The stage's own items, in order; one that its `when` skipped keeps its place.
    private func places(of stage: PlannedStage, in table: JobTable) -> [Int] {
        (table.index.entries[stage.id]?.items ?? []).sorted().filter { item in
            table.step(StepKey(stage: stage.id, item: item))?.isDropped == false
        }
    }

    /// Its items and those of the stage that it follows which gave it none: they keep their place, so that a place is the
    /// same item in the arrays of both.
    private func allPlaces(of stage: PlannedStage, in table: JobTable) -> [Int] {
        let own = places(of: stage, in: table)
        guard let followed = stage.forEach?.followed.flatMap(table.plan.stage) else { return own }
        return Set(own).union(allPlaces(of: followed, in: table)).sorted()
    }

    private static func failure(of failed: [(Int, StepFailure)], amongst count: Int) -> StepFailure {
        guard let (item, first) = failed.first else { return StepFailure("an item failed") }
        var failure = first
        failure.title = "item \(item): \(first.title)"
        guard failed.count > 1 else { return failure }
        let named = failed.prefix(10).map { "\($0.0)" }.joined(separator: ", ")
        let more = failed.count > 10 ? " and \(failed.count - 10) more" : ""
        failure.title = "\(failed.count) of \(count) items failed: \(named)\(more); " + failure.title
        return failure
    }
}

extension StepRecord {
    /// True if stages that follow its items have not followed all that there are to be.
    fileprivate var endsItsFollowers: Bool { state.name == .failed && !toleratesFailure }
}

extension JobTable {
    /// Returns whether the job goes on when the stage fails, as it was found when the stage began.
    func tolerates(_ stage: PlannedStage) -> Bool { step(StepKey(stage: stage.id))?.toleratesFailure == true }
}
