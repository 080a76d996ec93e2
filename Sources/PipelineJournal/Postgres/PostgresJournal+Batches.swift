public import PipelineCore

extension PostgresJournal {
    public func create(
        _ batch: BatchRecord, job: JobSnapshot, events: [JobEvent], owner: OwnerID
    ) async throws(JournalFailure) -> Lease {
        try await enter(owner)
        return try await writer.write(onCommit: { [owners] in owners.add($0) }) { (rows) throws(JournalFailure) in
            let lease = try rows.insert(job, events, for: owner)
            try rows.insert(batch, for: job.record.id)
            return lease
        }
    }

    public func batch(_ job: JobID) async throws(JournalFailure) -> BatchRecord? {
        try await reader.read { (reader) throws(JournalFailure) in
            guard let number = try reader.batchNumber(job) else { return nil }
            return try reader.batch(number)
        }
    }

    public func add(
        _ items: [NewItem], place: ReadingPlace, isRead: Bool, replacesChanged: Bool, to batch: Lease
    ) async throws(JournalFailure) -> AddedItems {
        try await writer.write { (rows) throws(JournalFailure) in
            try rows.add(
                items, place, isRead: isRead, replacesChanged: replacesChanged, to: rows.number(under: batch))
        }
    }

    public func reread(
        _ batch: Lease, as record: BatchRecord, of job: JobRecord
    ) async throws(JournalFailure) {
        try await writer.write { (rows) throws(JournalFailure) in
            try rows.reread(rows.number(under: batch), record, job)
        }
    }

    public func claimItems(_ limit: Int, of batch: Lease) async throws(JournalFailure) -> [ItemRecord] {
        try await writer.write { (rows) throws(JournalFailure) in
            try rows.claimItems(limit, of: rows.number(under: batch))
        }
    }

    public func finish(_ item: ItemRecord, of batch: Lease) async throws(JournalFailure) -> BatchRecord {
        try await writer.write { (rows) throws(JournalFailure) in
            try rows.finish(item, of: rows.number(under: batch))
        }
    }

    public func retryItems(
        in states: Set<ItemRecord.State>, keys: [String]?, of batch: Lease
    ) async throws(JournalFailure) -> Int {
        try await writer.write { (rows) throws(JournalFailure) in
            try rows.retryItems(in: states, keys: keys, of: rows.number(under: batch))
        }
    }

    public func configure(_ settings: BatchSettings, of batch: Lease) async throws(JournalFailure) {
        try await writer.write { (rows) throws(JournalFailure) in
            try rows.configure(settings, rows.number(under: batch))
        }
    }

    public func stop(_ cause: SuspensionCause?, _ batch: Lease) async throws(JournalFailure) {
        try await writer.write { (rows) throws(JournalFailure) in
            try rows.stop(cause, rows.number(under: batch))
        }
    }

    public func items(
        of batch: JobID, in states: Set<ItemRecord.State>?, after number: Int, limit: Int
    ) async throws(JournalFailure) -> [ItemRecord] {
        try await reader.read { (reader) throws(JournalFailure) in
            guard let found = try reader.batchNumber(batch) else { return [] }
            return try reader.items(of: found, in: states, after: number, limit: limit)
        }
    }

    public func item(_ key: String, of batch: JobID) async throws(JournalFailure) -> ItemRecord? {
        try await reader.read { (reader) throws(JournalFailure) in
            guard let found = try reader.batchNumber(batch) else { return nil }
            return try reader.item(key: key, of: found)
        }
    }

    public func failures(of batch: JobID, limit: Int) async throws(JournalFailure) -> [FailureGroup] {
        try await reader.read { (reader) throws(JournalFailure) in
            guard let found = try reader.batchNumber(batch) else { return [] }
            return try reader.failures(of: found, limit: limit)
        }
    }
}
