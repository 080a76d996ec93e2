package import PipelineCore

extension DatabaseJournal {
    package func page(_ query: JobPageQuery) async throws(JournalFailure) -> [OwnedJob] {
        try await overview { (reader) throws(JournalFailure) in try reader.page(query) }
    }

    package func counts(_ query: JobPageQuery) async throws(JournalFailure) -> [JobPhase: Int] {
        try await overview { (reader) throws(JournalFailure) in try reader.counts(query) }
    }

    package func lastChange() async throws(JournalFailure) -> Int64 {
        try await overview { (reader) throws(JournalFailure) in try reader.lastChange() }
    }

    package func changes(after change: Int64, limit: Int) async throws(JournalFailure) -> [JobChange] {
        try await overview { (reader) throws(JournalFailure) in try reader.changes(after: change, limit: limit) }
    }

    package func owners() async throws(JournalFailure) -> [OwnerSummary] {
        try await overview { (reader) throws(JournalFailure) in try reader.ownerSummaries() }
    }

    package func runs(of pipeline: String, limit: Int) async throws(JournalFailure) -> [JobRun] {
        try await overview { (reader) throws(JournalFailure) in try reader.runs(of: pipeline, limit: limit) }
    }

    package func computations() async throws(JournalFailure) -> [StageCount] {
        try await overview { (reader) throws(JournalFailure) in try reader.computations() }
    }

    package func itemEnds(
        of batch: JobID, since: Timestamp, slot: Duration
    ) async throws(JournalFailure) -> [ItemEnds] {
        try await overview { (reader) throws(JournalFailure) in
            guard let number = try reader.jobs.batchNumber(batch) else { return [] }
            return try reader.itemEnds(of: number, since: since, slot: Int64(slot.seconds * 1000))
        }
    }

    package func slowestItems(of batch: JobID, limit: Int) async throws(JournalFailure) -> [ItemRecord] {
        try await overview { (reader) throws(JournalFailure) in
            guard let number = try reader.jobs.batchNumber(batch) else { return [] }
            return try reader.slowestItems(of: number, limit: limit)
        }
    }

    private func overview<Value: Sendable>(
        _ body: @escaping @Sendable (inout OverviewReader<Connection>) throws(JournalFailure) -> Value
    ) async throws(JournalFailure) -> Value {
        try await read { (jobs) throws(JournalFailure) in
            var reader = OverviewReader(jobs)
            return try body(&reader)
        }
    }
}
