package import PipelineCore

extension Journal {
    /// Takes a batch up that nobody has. When that can't be written the batch is let go: one that this process has and does
    /// not run would wait forever.
    package func acquireBatch(
        _ batch: JobID, _ mode: JobMode, reopens: Bool, for owner: OwnerID, at time: Timestamp
    ) async throws(JournalFailure) -> Lease {
        let lease = try await acquire(batch, for: owner)
        do throws(JournalFailure) {
            // Read under the lease: an earlier owner may have written until then.
            guard let job = try await snapshot(of: batch) else { throw .noSuchJob(batch) }
            let changes: [JournalChange] = [.taken(mode), job.event(.jobResumed, at: time)]
            // Taking it up answers an earlier pause; a cancellation holds until it is done.
            let isBeingCancelled = job.ended == nil && job.request == .cancel
            try await commit(reopens && !isBeingCancelled ? [.reopened] + changes : changes, under: lease)
            return lease
        } catch {
            try? await release(lease)
            throw error
        }
    }
}
