package import PipelineCore
import Synchronization

/// Batches in memory, by the rules that all journals keep.
extension MemoryJournal: BatchJournal {
    package func create(
        _ batch: BatchRecord, job: JobSnapshot, events: [JobEvent], owner: OwnerID
    ) async throws(JournalFailure) -> Lease {
        var job = job
        job.batch = batch
        return try await create(job, events: events, owner: owner)
    }

    package func batch(_ job: JobID) async throws(JournalFailure) -> BatchRecord? { image.snapshot(of: job)?.batch }

    package func add(
        _ items: [NewItem], place: ReadingPlace, isRead: Bool, known: KnownItemRule, to batch: Lease
    ) async throws(JournalFailure) -> AddedItems {
        try edit(batch) { (record, rows) throws(JournalFailure) in
            var added = AddedItems()
            for item in items {
                if let number = rows.numbers[item.key] {
                    added.known += 1
                    if let before = rows.item(number), known.retries.contains(before.state),
                        before.inputs == item.inputs
                    {
                        rows.beginAgain(before, &record)
                    }
                    continue
                }
                var row = ItemRecord(
                    number: rows.items.count + 1, key: item.key, line: item.line, inputs: item.inputs)
                if let failure = item.failure {
                    row.state = .failed
                    row.failure = ItemFailure(stage: nil, failure: failure)
                }
                rows.numbers[item.key] = row.number
                rows.items.append(row)
                record.count(nil, row)
                added.added += 1
            }
            (record.place, record.isRead) = (place, isRead)
            return added
        }
    }

    package func reread(
        _ batch: Lease, as record: BatchRecord, of job: JobRecord
    ) async throws(JournalFailure) {
        try edit(batch) { (kept, _) throws(JournalFailure) in
            (kept.sources, kept.folder, kept.settings) = (record.sources, record.folder, record.settings)
            (kept.place, kept.isRead, kept.streak, kept.isStopped) = (record.place, false, record.streak, false)
        }
    }

    package func fail(
        _ item: Int, because failure: StepFailure, at time: Timestamp, of batch: Lease
    ) async throws(JournalFailure) {
        try edit(batch) { (record, rows) throws(JournalFailure) in
            guard let before = rows.item(item), before.state == .pending else { throw .stale }
            var row = before
            (row.state, row.ended, row.attempt) = (.failed, time, max(1, row.attempt))
            row.failure = ItemFailure(stage: nil, failure: failure)
            rows.items[item - 1] = row
            record.count(before, row)
        }
    }

    package func cancelItem(
        _ item: Int, at time: Timestamp, of batch: JobID
    ) async throws(JournalFailure) -> Bool {
        try change { (state) throws(JournalFailure) in
            guard let before = state.image.batches[batch]?.item(item), before.state == .pending else { return false }
            var row = before
            (row.state, row.ended, row.attempt) = (.cancelled, time, max(1, row.attempt))
            state.image.batches[batch]?.items[item - 1] = row
            state.image.rows[batch]?.snapshot.batch?.count(before, row)
            state.commits += 1
            return true
        }
    }

    package func retryItems(
        _ keys: [String]?, in states: Set<ItemRecord.State>, of batch: Lease
    ) async throws(JournalFailure) -> Int {
        try edit(batch) { (record, rows) throws(JournalFailure) in
            var count = 0
            for before in rows.items where states.contains(before.state) {
                guard keys?.contains(before.key) ?? true else { continue }
                if rows.beginAgain(before, &record) { count += 1 }
            }
            (record.streak, record.isStopped) = (FailureStreak(), false)
            return count
        }
    }

    package func withdrawRetries(of batch: Lease) async throws(JournalFailure) {
        try edit(batch) { (record, rows) throws(JournalFailure) in
            for before in rows.items where before.state == .pending && before.job != nil {
                var row = before
                (row.state, row.attempt) = (row.failure == nil ? .cancelled : .failed, row.attempt - 1)
                rows.items[row.number - 1] = row
                record.count(before, row)
            }
        }
    }

    package func pendingItems(of batch: JobID, limit: Int) async throws(JournalFailure) -> [ItemRecord] {
        try await items(of: batch, in: [.pending], after: 0, limit: limit)
    }

    package func claimFile(
        _ path: String, isFolder: Bool, under lease: Lease
    ) async throws(JournalFailure) -> String? {
        try change { (state) throws(JournalFailure) in
            guard state.image.isValid(lease) else { throw .stale }
            guard let own = state.image.rows[lease.job]?.snapshot.record.item,
                let rows = state.image.batches[own.batch], let number = rows.numbers[own.key]
            else { return nil }
            let inside = isFolder ? rows.targets.keys.filter { $0.hasPrefix(path + "/") }.sorted() : []
            for taken in [path] + inside {
                if let other = rows.targets[taken], other != number { return rows.item(other)?.key }
            }
            state.image.batches[own.batch]?.targets[path] = number
            return nil
        }
    }

    package func configure(_ settings: BatchSettings, of batch: Lease) async throws(JournalFailure) {
        try edit(batch) { (record, _) throws(JournalFailure) in record.settings = settings }
    }

    package func stop(_ cause: SuspensionCause?, _ batch: Lease) async throws(JournalFailure) {
        try edit(batch) { (record, _) throws(JournalFailure) in
            record.isStopped = cause != nil
            if cause == nil { record.streak = FailureStreak() }
        }
    }

    package func items(
        of batch: JobID, in states: Set<ItemRecord.State>?, after number: Int, limit: Int
    ) async throws(JournalFailure) -> [ItemRecord] {
        state.withLock { state in
            let rows = state.image.batches[batch]?.items.dropFirst(max(0, number)) ?? []
            guard let states else { return Array(rows.prefix(limit)) }
            return Array(rows.lazy.filter { states.contains($0.state) }.prefix(limit))
        }
    }

    package func item(_ key: String, of batch: JobID) async throws(JournalFailure) -> ItemRecord? {
        state.withLock { state in
            let rows = state.image.batches[batch]
            return rows?.numbers[key].flatMap { rows?.item($0) }
        }
    }

    package func failures(of batch: JobID, limit: Int) async throws(JournalFailure) -> [FailureGroup] { [] }

    private func edit<Value: Sendable>(
        _ batch: Lease, _ body: (inout BatchRecord, inout Image.Batch) throws(JournalFailure) -> Value
    ) throws(JournalFailure) -> Value {
        try change { (state) throws(JournalFailure) in
            guard state.image.isValid(batch) else { throw .stale }
            guard var record = state.image.rows[batch.job]?.snapshot.batch else { throw .noSuchJob(batch.job) }
            var rows = state.image.batches.removeValue(forKey: batch.job) ?? Image.Batch()
            defer { state.image.batches[batch.job] = rows }
            let value = try body(&record, &rows)
            state.image.rows[batch.job]?.snapshot.batch = record
            state.commits += 1
            return value
        }
    }
}
