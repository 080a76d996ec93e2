import JSONPath

/// The decision of what a stage can do next; made from the indexes alone.
enum StageDecision: Sendable, Hashable {
    /// All that the step needs has ended: find out whether it begins.
    case begin(StepKey)
    /// The step reads a capture of a skipped stage.
    case skip(StepKey)
    /// More items of the stage are at hand, or fresh elements: make the steps, or give them these.
    case expand
    /// There is room for so many more items.
    case beginItems(Int)
    /// All items that will run have ended: put their captures together, or fail the stage.
    case gather

    /// Makes the decision of what the stage can do now; nil for nothing. An initializer would take a copy of the table.
    ///
    /// - Parameter isQuiet: whether nothing is being found out and no step waits for a good time: after a failure the
    ///   stages of `finally` begin only then.
    static func make(
        on id: String, in table: JobTable, _ fanOut: FanOut, isQuiet: @autoclosure () -> Bool
    ) -> StageDecision? {
        guard let entry = table.index.entries[id] else { return nil }
        let isWanted =
            entry.stage.isFinal ? isTurn(of: entry, in: table, fanOut, isQuiet()) : table.index.isWanted
        let mayBegin = table.index.mayBegin
        return switch entry.own {
        case .pending: isWanted && mayBegin && entry.openNeeds == 0 ? beginning(entry, in: table) : nil
        case .running where entry.isRepeated && !fanOut.isExpanding(id):
            next(entry, in: table, fanOut, isWanted: isWanted, mayBegin: mayBegin)
        case .running, .waiting, .unknown, .succeeded, .failed, .cancelled, .skipped: nil
        }
    }

    /// The stages of `finally` run one after the other, once the others are at rest.
    private static func isTurn(
        of entry: StepIndex.Entry, in table: JobTable, _ fanOut: FanOut, _ isQuiet: @autoclosure () -> Bool
    ) -> Bool {
        let first = table.plan.finally.first { table.index.entries[$0.id]?.own.isEnded == false }
        guard first?.id == entry.stage.id, table.index.openMainSteps == 0 else { return false }
        if !table.index.isWanted { return true }
        // A stage that may still begin comes first.
        return isQuiet()
            && !table.index.changed.contains { id in
                table.index.entries[id]?.stage.isFinal == false
                    && make(on: id, in: table, fanOut, isQuiet: true) != nil
            }
    }

    private static func beginning(_ entry: StepIndex.Entry, in table: JobTable) -> StageDecision {
        let key = StepKey(stage: entry.stage.id)
        let sources = entry.stage.reads.union(entry.stage.forEach?.followed.map { [$0] } ?? [])
        return sources.contains { table.index.entries[$0]?.own == .skipped } ? .skip(key) : .begin(key)
    }

    private static func next(
        _ entry: StepIndex.Entry, in table: JobTable, _ fanOut: FanOut, isWanted: Bool, mayBegin: Bool
    ) -> StageDecision? {
        // Without fresh captures no item begins.
        if isWanted, table.index.isHeld(entry.stage.id) { return nil }
        if table.index.awaitsElements(entry.stage.id) { return .expand }
        let begins = isWanted && !fanOut.isStopped(entry)
        if begins, !entry.arrived.isEmpty || fanOut.isUnknown(entry.stage) { return mayBegin ? .expand : nil }
        if begins, !entry.ready.isEmpty {
            let room = fanOut.room(of: entry)
            return mayBegin && room > 0 ? .beginItems(room) : nil
        }
        guard entry.counts.active == 0, entry.counts.unknown == 0 else { return nil }
        let followed = entry.stage.forEach?.followed
        let isComplete = followed.map { table.index.entries[$0]?.own.isEnded == true } ?? true
        guard isComplete || !begins else { return nil }
        // What follows its items comes to its end before the stage fails, and the job with it.
        if isWanted, fanOut.fails(entry, in: table), fanOut.isFollowed(entry, in: table) { return nil }
        return .gather
    }
}
