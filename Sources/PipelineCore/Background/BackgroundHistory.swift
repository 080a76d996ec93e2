/// The part of the journal that outlives jobs: the ledger of resumes, and how long stages took.
public protocol BackgroundHistory: Sendable {
    /// The rows of the ledger since a time, oldest first; of all pipelines when none is named.
    func resumes(since time: Timestamp, of pipeline: String?) async throws(JournalFailure) -> [ResumeRecord]
    /// What is known of how long the stages of a pipeline took, oldest first: of each stage the last ones, at most
    /// `limit`.
    func samples(of pipeline: String, limit: Int) async throws(JournalFailure) -> [StageSample]
    /// The names of pipelines that have samples or resumes.
    func pipelines() async throws(JournalFailure) -> [String]
}
