package import PipelineCore

/// Batches as one process sees them: it may die before and after each write.
extension ProcessJournal: BatchJournal {
    private func batches() throws(JournalFailure) -> any BatchJournal {
        guard let batches = base as? any BatchJournal else { throw .other("this journal keeps no batches") }
        return batches
    }

    /// A write that the process may not live to see, or to hear the end of.
    private func write<Value: Sendable>(
        _ body: (any BatchJournal) async throws(JournalFailure) -> Value
    ) async throws(JournalFailure) -> Value {
        try await reached()
        let value = try await body(try batches())
        try await reached()
        return value
    }

    package func create(
        _ batch: BatchRecord, job: JobSnapshot, events: [JobEvent], owner: OwnerID
    ) async throws(JournalFailure) -> Lease {
        try await write { (base) async throws(JournalFailure) in
            try await base.create(batch, job: job, events: events, owner: owner)
        }
    }

    package func batch(_ job: JobID) async throws(JournalFailure) -> BatchRecord? {
        try await reached()
        return try await batches().batch(job)
    }

    package func add(
        _ items: [NewItem], place: ReadingPlace, isRead: Bool, known: KnownItemRule, to batch: Lease
    ) async throws(JournalFailure) -> AddedItems {
        try await write { (base) async throws(JournalFailure) in
            try await base.add(items, place: place, isRead: isRead, known: known, to: batch)
        }
    }

    package func reread(_ batch: Lease, as record: BatchRecord, of job: JobRecord) async throws(JournalFailure) {
        try await write { (base) async throws(JournalFailure) in try await base.reread(batch, as: record, of: job) }
    }

    package func fail(
        _ item: Int, because failure: StepFailure, at time: Timestamp, of batch: Lease
    ) async throws(JournalFailure) {
        try await write { (base) async throws(JournalFailure) in
            try await base.fail(item, because: failure, at: time, of: batch)
        }
    }

    package func cancelItem(
        _ item: Int, at time: Timestamp, of batch: JobID
    ) async throws(JournalFailure) -> Bool {
        try await write { (base) async throws(JournalFailure) in try await base.cancelItem(item, at: time, of: batch) }
    }

    package func withdrawRetries(of batch: Lease) async throws(JournalFailure) {
        try await write { (base) async throws(JournalFailure) in try await base.withdrawRetries(of: batch) }
    }

    package func pendingItems(of batch: JobID, limit: Int) async throws(JournalFailure) -> [ItemRecord] {
        try await reached()
        return try await batches().pendingItems(of: batch, limit: limit)
    }

    package func retryItems(
        _ keys: [String]?, in states: Set<ItemRecord.State>, of batch: Lease
    ) async throws(JournalFailure) -> Int {
        try await write { (base) async throws(JournalFailure) in
            try await base.retryItems(keys, in: states, of: batch)
        }
    }

    package func claimFile(
        _ path: String, isFolder: Bool, under lease: Lease
    ) async throws(JournalFailure) -> String? {
        try await write { (base) async throws(JournalFailure) in
            try await base.claimFile(path, isFolder: isFolder, under: lease)
        }
    }

    package func configure(_ settings: BatchSettings, of batch: Lease) async throws(JournalFailure) {
        try await write { (base) async throws(JournalFailure) in try await base.configure(settings, of: batch) }
    }

    package func stop(_ cause: SuspensionCause?, _ batch: Lease) async throws(JournalFailure) {
        try await write { (base) async throws(JournalFailure) in try await base.stop(cause, batch) }
    }

    package func items(
        of batch: JobID, in states: Set<ItemRecord.State>?, after number: Int, limit: Int
    ) async throws(JournalFailure) -> [ItemRecord] {
        try await reached()
        return try await batches().items(of: batch, in: states, after: number, limit: limit)
    }

    package func item(_ key: String, of batch: JobID) async throws(JournalFailure) -> ItemRecord? {
        try await batches().item(key, of: batch)
    }

    package func failures(of batch: JobID, limit: Int) async throws(JournalFailure) -> [FailureGroup] {
        try await batches().failures(of: batch, limit: limit)
    }
}

extension ProcessJournal: ServiceJournal {
    private func services() throws(JournalFailure) -> any ServiceJournal {
        guard let services = base as? any ServiceJournal else { throw .other("this journal keeps no services") }
        return services
    }

    package func closedServices() async throws(JournalFailure) -> [ClosedService] {
        try await services().closedServices()
    }

    package func closeService(_ service: ClosedService) async throws(JournalFailure) {
        try await reached()
        try await services().closeService(service)
    }

    package func beginTrial(
        of service: ServiceID, at now: Timestamp, until limit: Timestamp
    ) async throws(JournalFailure) -> Bool {
        try await reached()
        return try await services().beginTrial(of: service, at: now, until: limit)
    }

    package func openService(_ service: ServiceID) async throws(JournalFailure) {
        try await reached()
        try await services().openService(service)
    }

    package func claimComputation(
        at service: ServiceID, for step: StepKey, of job: JobID, limit: Int
    ) async throws(JournalFailure) -> Bool {
        try await reached()
        let isClaimed = try await services().claimComputation(at: service, for: step, of: job, limit: limit)
        try await reached()
        return isClaimed
    }

    package func mayOrder(_ job: JobID) async throws(JournalFailure) -> Bool {
        try await reached()
        return try await services().mayOrder(job)
    }
}
