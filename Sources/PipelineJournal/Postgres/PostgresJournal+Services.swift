public import PipelineCore

extension PostgresJournal {
    public func closedServices() async throws(JournalFailure) -> [ClosedService] {
        try await reader.read { (reader) throws(JournalFailure) in try reader.closedServices() }
    }

    public func closeService(_ service: ClosedService) async throws(JournalFailure) {
        try await writer.write { (rows) throws(JournalFailure) in try rows.close(service) }
    }

    public func beginTrial(
        of service: ServiceID, at now: Timestamp, until limit: Timestamp
    ) async throws(JournalFailure) -> Bool {
        try await writer.write { (rows) throws(JournalFailure) in
            try rows.beginTrial(of: service, at: now, until: limit)
        }
    }

    public func openService(_ service: ServiceID) async throws(JournalFailure) {
        try await writer.write { (rows) throws(JournalFailure) in try rows.open(service) }
    }

    public func claimComputation(
        at service: ServiceID, for step: StepKey, of job: JobID, limit: Int
    ) async throws(JournalFailure) -> Bool {
        try await writer.write { (rows) throws(JournalFailure) in
            try rows.claimComputation(at: service, for: step, of: job, limit: limit)
        }
    }
}
