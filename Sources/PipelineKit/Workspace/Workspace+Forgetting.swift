package import PipelineCore

/// How jobs are forgotten, with what is kept of them in the state folder besides their rows.
extension Workspace {
    /// Forgets a job that has ended and, with a batch, the jobs of its items: their rows, their exchanges and the inputs
    /// that were fetched for them.
    package func remove(_ job: JobID, from journal: any PipelineCore.Journal) async throws(JournalFailure) {
        for removed in try await journal.remove(job) {
            exchanges.remove(removed)
            inputs.remove(removed)
        }
    }
}
