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
    /// The database can't be reached for now: nothing that it has is lost, and it may be asked again later. The place has no
    /// password in it.
    case away(place: String, reason: String)
    /// The database refuses, and will until somebody mends what the hint says. No part has a password in it.
    case refused(place: String, reason: String, hint: String)
    /// The disk is full; nothing was kept of the call.
    case full(folder: String)
    /// The state folder can't be written.
    case notWritable(folder: String, reason: String)
    /// The database was moved or removed while it was open; nothing was kept of the call.
    case moved(file: String)
    /// The database is damaged.
    case damaged(file: String, reason: String)
    /// The database was written by a newer version of the program.
    case newer(file: String)
    /// Another process held the database for too long.
    case busy
    case other(String)
}

extension JournalFailure {
    /// True if the journal may take the same another time: what it refused says nothing of the job.
    package var mayPass: Bool {
        switch self {
        case .away, .refused, .full, .notWritable, .moved, .damaged, .busy, .other: true
        case .stale, .owned, .conflict, .keyTaken, .noSuchJob, .newer: false
        }
    }
}

extension JournalFailure: CustomStringConvertible {
    /// The failure as a sentence without a full stop, for people.
    public var description: String {
        switch self {
        case .stale: "another process has taken the job over"
        case .owned(let owner): "the job is running in another process (\(owner.text))"
        case .conflict(let step): "the journal holds another state of '\(step)'"
        case .keyTaken(let job): "the key belongs to job \(job)"
        case .noSuchJob(let job): "there is no job \(job)"
        case .away(let place, let reason): "the database \(place) is away: \(reason)"
        case .refused(let place, let reason, let hint): "the database \(place) can't be used: \(reason); \(hint)"
        case .full(let folder): "no space left where jobs are kept: \(folder)"
        case .notWritable(let folder, let reason): "cannot write to \(folder): \(reason)"
        case .moved(let file): "the journal \(file) was moved or removed while it was in use"
        case .damaged(let file, let reason): "the journal \(file) is damaged: \(reason)"
        case .newer(let file): "the journal \(file) was written by a newer version of pipeline"
        case .busy: "another process holds the journal"
        case .other(let text): text
        }
    }
}
