import PipelineCore

/// The items of a batch that have begun and wait for one of a service's places, and for nothing else.
struct HeldItems {
    let journal: any Journal & BatchJournal
    let batch: JobID

    /// The reason why nothing more of the batch may begin: no item that is pending, and none of these.
    func obstacle(of record: BatchRecord) async throws(JournalFailure) -> SuspensionCause? {
        if let obstacle = record.obstacle { return obstacle }
        let isSpent = record.settings.spend != nil && record.affordableCount == 0
        guard record.failsAlike || isSpent else { return nil }
        let count = try await jobs.count
        if count == 0 { return nil }
        if record.failsAlike { return .sameFailure }
        // Those that are at work may prove cheaper than it seems.
        return count >= record.count(.running) ? .spent : nil
    }

    /// Pauses them, for they are not let in any more; those that have a place come to their end.
    func pause() async throws(JournalFailure) {
        for job in try await jobs { _ = try await journal.post(.pause, to: job) }
    }

    private var jobs: Set<JobID> {
        get async throws(JournalFailure) {
            let waiting = FoundJobs()
            try await journal.forEachJob(of: batch, in: [.running]) { [journal] (job) throws(JournalFailure) in
                if try await journal.snapshot(of: job)?.steps.waitForPlaceAlone == true { waiting.insert(job) }
            }
            return waiting.all
        }
    }
}
