/// The reason why the journal could not do what was asked, as data: the engine and the commands decide from it.
public enum JournalFailure: Error, Sendable, Hashable {
    /// Another owner has taken the job since: this one must stop at once and act no more.
    case stale
    /// A living process owns the job.
    case owned(by: OwnerID)
    /// A row is not the one that the change was made from.
    case conflict(StepKey)
    /// Another job has this key.
    case keyTaken(JobID)
    case noSuchJob(JobID)
    /// The disk is full; nothing was kept of the call.
    case full(folder: String)
    /// The state folder can't be written.
    case notWritable(folder: String, reason: String)
    /// The database is damaged.
    case damaged(file: String, reason: String)
    /// The database was written by a newer version of the program.
    case newer(file: String)
    /// Another process held the database for too long.
    case busy
    case other(String)
}
