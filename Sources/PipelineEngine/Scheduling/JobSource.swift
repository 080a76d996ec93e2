package import PipelineCore

/// The source from which a scheduler gets its jobs, and to which it reports what became of them.
package protocol JobSource: Sendable {
    /// Takes up a job that nobody owns, to run it or to send what is left of its notifications; nil when there is nothing
    /// to do.
    func takeUp(_ job: JobID) async throws(JournalFailure) -> Engine.JobHandle?
    /// Goes on with a job that was parked.
    func unpark(_ job: ParkedJob) async throws(JournalFailure) -> Engine.JobHandle
    /// Learns that a job has come to rest or was parked, or why it could not be run.
    ///
    /// - Parameter snapshot: the job as it was left; nil when it could not be run.
    func ended(_ job: JobID, _ result: Result<JobEnd, JournalFailure>, as snapshot: JobSnapshot?) async
}
