package import PipelineCore
package import PipelineJournal

/// A journal that many machines share. Whoever works on it all the time is a worker: its row says so, and it claims jobs
/// that nobody has.
package protocol SharedJournal: WorkspaceJournal {
    /// The time of day by its clock, which all machines share.
    var now: Timestamp { get }
    /// Makes this process a worker that runs so many jobs at a time; renewed until the journal is closed.
    func becomeWorker(atOnce: Int) async throws(JournalFailure)
    /// The processes that have jobs or wait for some, and those that died within the hour, the oldest first.
    func workers() async throws(JournalFailure) -> [JournalWorker]
    /// Claims jobs of the background that nobody has, at most so many: those with something that expires soon first, in
    /// the order of these times, then the oldest.
    func claimJobs(_ limit: Int, at now: Timestamp) async throws(JournalFailure) -> [JobID]
    /// Returns whether a job was claimed here and not begun.
    func isClaimed(_ job: JobID) -> Bool
    /// Lets a claimed job go that is not to be begun here.
    func decline(_ job: JobID) async throws(JournalFailure)
    /// The name of this machine, as jobs have it whose files are here.
    var host: String { get }
    /// The machine whose files a job or a batch needs; nil for one that any worker may take.
    func host(of job: JobID) async throws(JournalFailure) -> String?
    /// Returns when it may be worth while to claim.
    func work() -> AsyncStream<Void>
    /// Returns whether other processes are heard at once, and not only found by looks at the rows.
    var isHearing: Bool { get }
    /// A value of 32 bytes that all processes of the journal share.
    func sharedKey() throws(JournalFailure) -> [UInt8]
}

extension PostgresJournal: SharedJournal {
    package var shared: (any SharedJournal)? { self }
}
