public import PipelineCore

/// What stays in memory of a job that is parked; the rest is rows.
public struct ParkedJob: Sendable {
    public let lease: Lease
    /// What the ledger of background resumes must know when it goes on.
    let resumes: ResumeWatch
}
