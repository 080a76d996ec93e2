public import PipelineCore

/// What a scheduler asks of the program that it serves: how jobs are opened, and when.
public protocol BackgroundJobs: Sendable {
    /// Takes up a job that nobody owns, to drive it or to tell what is left to be told of it; nil when there is nothing
    /// to do without its being named.
    func takeUp(_ job: JobID) async throws(JournalFailure) -> Engine.JobHandle?
    /// Goes on with a job that was parked.
    func unpark(_ job: ParkedJob) async throws(JournalFailure) -> Engine.JobHandle
    /// When a job may get control back for that reason: now, or not before a time. The only place where background
    /// work is put off.
    func admit(_ job: JobID, _ occasion: ResumeOccasion, at time: Timestamp) async -> ResumeAdmission
    /// A drive has ended or was parked.
    func ended(_ job: JobID, _ result: Result<JobEnd, JournalFailure>) async
}

/// Why a background job is to get control back.
public enum ResumeOccasion: Sendable, Hashable {
    /// The program started, or was told of a job that nobody has.
    case start
    /// The time of a wait has come.
    case timer
    /// A push came, or a person asked for something.
    case knock
}

/// Whether a job gets control back.
public enum ResumeAdmission: Sendable, Hashable {
    case now
    case notBefore(Timestamp)
}
