package import PipelineCore

extension DatabaseJournal {
    package func closedServices() async throws(JournalFailure) -> [ClosedService] {
        try await read { (reader) throws(JournalFailure) in try reader.closedServices() }
    }

    package func closeService(_ service: ClosedService) async throws(JournalFailure) {
        try await write { (rows) throws(JournalFailure) in try rows.services.close(service) }
    }

    package func beginTrial(
        of service: ServiceID, at now: Timestamp, until limit: Timestamp
    ) async throws(JournalFailure) -> Bool {
        try await write { (rows) throws(JournalFailure) in
            try rows.services.beginTrial(of: service, at: now, until: limit)
        }
    }

    package func openService(_ service: ServiceID) async throws(JournalFailure) {
        try await write { (rows) throws(JournalFailure) in try rows.services.open(service) }
    }

    package func claimComputation(
        at service: ServiceID, for step: StepKey, of job: JobID, limit: Int
    ) async throws(JournalFailure) -> Bool {
        try await write { (rows) throws(JournalFailure) in
            try rows.services.claimComputation(at: service, for: step, of: job, limit: limit)
        }
    }

    package func mayOrder(_ job: JobID) async throws(JournalFailure) -> Bool {
        try await read { (reader) throws(JournalFailure) in try reader.batchAtWork(with: job)?.batch.failsAlike != true
        }
    }
}
