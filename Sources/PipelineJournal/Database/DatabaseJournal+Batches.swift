package import PipelineCore

extension DatabaseJournal {
    package func create(
        _ batch: BatchRecord, job: JobSnapshot, events: [JobEvent], owner: OwnerID
    ) async throws(JournalFailure) -> Lease {
        try await own(as: owner) { (rows) throws(JournalFailure) in
            let lease = try rows.insert(job, events, for: owner)
            try rows.batches.insert(batch, for: job.record.id)
            return lease
        }
    }

    package func batch(_ job: JobID) async throws(JournalFailure) -> BatchRecord? {
        try await read { (reader) throws(JournalFailure) in
            guard let number = try reader.batchNumber(job) else { return nil }
            return try reader.batch(number)
        }
    }

    package func add(
        _ items: [NewItem], place: ReadingPlace, isRead: Bool, known: KnownItemRule, to batch: Lease
    ) async throws(JournalFailure) -> AddedItems {
        try await write { (rows) throws(JournalFailure) in
            try rows.batches.add(items, place, isRead: isRead, known: known, to: rows.number(under: batch))
        }
    }

    package func reread(
        _ batch: Lease, as record: BatchRecord, of job: JobRecord
    ) async throws(JournalFailure) {
        try await write { (rows) throws(JournalFailure) in
            try rows.batches.reread(rows.number(under: batch), record, job)
        }
    }

    package func fail(
        _ item: Int, because failure: StepFailure, at time: Timestamp, of batch: Lease
    ) async throws(JournalFailure) {
        try await write { (rows) throws(JournalFailure) in
            try rows.itemRows.fail(item, because: failure, at: time, of: rows.number(under: batch))
        }
    }

    package func cancelItem(
        _ item: Int, at time: Timestamp, of batch: JobID
    ) async throws(JournalFailure) -> Bool {
        try await write { (rows) throws(JournalFailure) in
            guard let number = try rows.batchNumber(batch) else { return false }
            return try rows.itemRows.cancel(item, at: time, of: number)
        }
    }

    package func withdrawRetries(of batch: Lease) async throws(JournalFailure) {
        try await write { (rows) throws(JournalFailure) in
            try rows.batches.withdrawRetries(of: rows.number(under: batch))
        }
    }

    package func pendingItems(of batch: JobID, limit: Int) async throws(JournalFailure) -> [ItemRecord] {
        try await read { (reader) throws(JournalFailure) in
            guard let number = try reader.batchNumber(batch) else { return [] }
            return try reader.pendingItems(of: number, limit: limit)
        }
    }

    package func retryItems(
        _ keys: [String]?, in states: Set<ItemRecord.State>, of batch: Lease
    ) async throws(JournalFailure) -> Int {
        try await write { (rows) throws(JournalFailure) in
            try rows.batches.retryItems(keys, in: states, of: rows.number(under: batch))
        }
    }

    package func claimFile(
        _ path: String, isFolder: Bool, under lease: Lease
    ) async throws(JournalFailure) -> String? {
        // Most are the item's since its row was read, and a look costs no commit.
        if !isFolder {
            let isOwn = try await read { (reader) throws(JournalFailure) in try reader.isClaimed(path, by: lease.job) }
            if isOwn { return nil }
        }
        return try await write { (rows) throws(JournalFailure) in
            try rows.batches.claim(path, isFolder: isFolder, forItemOf: rows.number(under: lease))
        }
    }

    package func configure(_ settings: BatchSettings, of batch: Lease) async throws(JournalFailure) {
        try await write { (rows) throws(JournalFailure) in
            try rows.batches.configure(settings, rows.number(under: batch))
        }
    }

    package func stop(_ cause: SuspensionCause?, _ batch: Lease) async throws(JournalFailure) {
        try await write { (rows) throws(JournalFailure) in
            try rows.batches.stop(cause, rows.number(under: batch))
        }
    }

    package func items(
        of batch: JobID, in states: Set<ItemRecord.State>?, after number: Int, limit: Int
    ) async throws(JournalFailure) -> [ItemRecord] {
        try await read { (reader) throws(JournalFailure) in
            guard let found = try reader.batchNumber(batch) else { return [] }
            return try reader.items(of: found, in: states, after: number, limit: limit)
        }
    }

    package func item(_ key: String, of batch: JobID) async throws(JournalFailure) -> ItemRecord? {
        try await read { (reader) throws(JournalFailure) in
            guard let found = try reader.batchNumber(batch) else { return nil }
            return try reader.item(key: key, of: found)
        }
    }

    package func failures(of batch: JobID, limit: Int) async throws(JournalFailure) -> [FailureGroup] {
        try await read { (reader) throws(JournalFailure) in
            guard let found = try reader.batchNumber(batch) else { return [] }
            return try reader.failures(of: found, limit: limit)
        }
    }
}
