package import PipelineCore

extension MemoryJournal.Image {
    /// The items of a batch, in the order of their numbers.
    struct Batch: Sendable {
        var items: [ItemRecord] = []
        var numbers: [String: Int] = [:]
        /// The numbers of the items that files are of.
        var targets: [String: Int] = [:]

        func item(_ number: Int) -> ItemRecord? { items.indices.contains(number - 1) ? items[number - 1] : nil }

        /// Makes an item pending again that has ended; false for a row that could not be begun.
        @discardableResult
        mutating func beginAgain(_ before: ItemRecord, _ record: inout BatchRecord) -> Bool {
            guard before.attempt > 0 else { return false }
            var row = before
            (row.state, row.attempt) = (.pending, row.attempt + 1)
            items[row.number - 1] = row
            record.count(before, row)
            return true
        }
    }

    /// Every item of a batch.
    package func items(of batch: JobID) -> [ItemRecord] { batches[batch]?.items ?? [] }

    /// Has the item of a job that is removed begin another one when it is told to.
    mutating func forgetJob(_ job: JobRecord) {
        guard let own = job.item, let number = batches[own.batch]?.numbers[own.key],
            batches[own.batch]?.item(number)?.job == job.id
        else { return }
        batches[own.batch]?.items[number - 1].job = nil
    }

    /// Removes a job and, with a batch, its items and their jobs; returns the jobs that went.
    mutating func remove(_ job: JobID) -> [JobID] {
        batches[job] = nil
        let ofItems = rows.values.map(\.snapshot.record).filter { $0.item?.batch == job }.map(\.id)
        for removed in [job] + ofItems { rows[removed] = nil }
        return [job] + ofItems.sorted()
    }

    /// Returns whether the item that a new job is for may begin.
    func mayBegin(_ job: JobRecord) -> Bool {
        guard let own = job.item else { return true }
        let rows = batches[own.batch]
        return rows?.numbers[own.key].flatMap { rows?.item($0) }?.state == .pending
    }

    /// Moves the item of a job along, with the counts of its batch.
    mutating func keep(_ outcome: ItemOutcome, of job: JobRecord, isFirst: Bool = false) {
        guard let own = job.item, let number = batches[own.batch]?.numbers[own.key],
            var before = batches[own.batch]?.item(number), isFirst || before.job == job.id
        else { return }
        if isFirst { before.cost = nil }
        var after = before
        after.apply(outcome)
        if isFirst { (after.job, after.attempt) = (job.id, max(1, after.attempt)) }
        batches[own.batch]?.items[number - 1] = after
        rows[own.batch]?.snapshot.batch?.count(before, after)
    }
}

extension BatchRecord {
    /// Counts an item that was one thing and is another now; nil for one that was just read.
    mutating func count(_ before: ItemRecord?, _ after: ItemRecord) {
        if let before { counts[before.state, default: 0] -= 1 }
        counts[after.state, default: 0] += 1
        if let before { otherEnds += after.otherEnds(since: before) }
        if let spent = after.cost {
            cost = (Amount(cost ?? 0) + Amount(spent) - Amount(before?.cost ?? 0)).double
        }
        moved = BytesMoved(
            sent: moved.sent + max(0, after.moved.sent - (before?.moved.sent ?? 0)),
            received: moved.received + max(0, after.moved.received - (before?.moved.received ?? 0)))
        if let before, !isStopped, after.cameToRest(since: before) { streak.add(after) }
    }
}
