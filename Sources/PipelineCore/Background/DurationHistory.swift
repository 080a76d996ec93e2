/// The part of the journal that outlives jobs: the ledger of resumes, and how long stages took.
package protocol DurationHistory: Sendable {
    /// The rows of the ledger since a time, oldest first; of all pipelines when none is named.
    func resumes(since time: Timestamp, of pipeline: String?) async throws(JournalFailure) -> [ResumeRecord]
    /// The rows of all pipelines since a time that came after a row of the number, in the order of their coming: what
    /// another process has added since the last look.
    func resumes(after number: Int, since time: Timestamp) async throws(JournalFailure) -> ResumeRows
    /// Returns what is known of how long the stages of a pipeline took, oldest first: of each stage the last ones, at
    /// most `limit`.
    func samples(of pipeline: String, limit: Int) async throws(JournalFailure) -> [StageSample]
    /// Returns what runs now of a pipeline's remote jobs that other living owners have, at most `limit` of them: each
    /// takes longer than its sample says (``StageSample/isRunning``).
    func runningSamples(
        of pipeline: String, besides owner: OwnerID, at now: Timestamp, limit: Int
    ) async throws(JournalFailure) -> [StageSample]
    /// The names of pipelines that have samples or resumes.
    func pipelines() async throws(JournalFailure) -> [String]
}

/// Rows of the ledger of resumes, in the order of their coming.
package struct ResumeRows: Sendable, Hashable {
    package var records: [ResumeRecord]
    /// The number of the last row; of the one before them when there are none.
    package var last: Int

    package init(records: [ResumeRecord], last: Int) {
        self.records = records
        self.last = last
    }
}
