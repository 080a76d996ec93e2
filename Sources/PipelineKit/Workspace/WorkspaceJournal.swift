package import PipelineCore
import PipelineJournal

/// A journal as programs use it: the port of the engine, and what is done to the store as a whole.
package protocol WorkspaceJournal: Journal, BatchJournal, ServiceJournal, DurationHistory, JournalOverview,
    MetricsJournal, TraceJournal
{
    /// The name under which this process owns jobs.
    var owner: OwnerID { get }
    /// The journal itself if many machines share it; nil of any other.
    var shared: (any SharedJournal)? { get }
    /// Everything that is wrong with the store, a sentence each; empty when all is well.
    func checkIntegrity() async throws(JournalFailure) -> [String]
    /// Takes the name of ``owner`` before the first job; throws when another process has it.
    func claimName() async throws(JournalFailure)
    /// The unfinished jobs that a background owner takes up without being told: those with something that expires after
    /// `now` first, in the order of these times, then the oldest.
    func backgroundJobs(at now: Timestamp) async throws(JournalFailure) -> [JobID]
    /// The jobs of which somebody is still to be told and that nobody owns, oldest first.
    func untoldJobs() async throws(JournalFailure) -> [JobID]
    /// Makes another document the job's, with what the record says of it. Its steps, submits and files stay as they are.
    ///
    /// - Throws: ``JournalFailure/stale`` when the lease is not the job's last.
    func adopt(_ record: JobRecord, under lease: Lease) async throws(JournalFailure)
    /// Tells the processes that watch the event's job of it; may be lost, returns at once.
    func show(_ event: JobEvent)
    /// Asks the owner of a job to show what happens to it, or to any of its jobs, here for the next five seconds; false
    /// when it does not listen.
    func watch(_ job: JobID?, of owner: OwnerID) -> Bool
    /// Tells the owner of a job that a person watches it, or any of its jobs, on a terminal here for the next five
    /// seconds; false when it does not listen.
    func attend(_ job: JobID?, of owner: OwnerID) -> Bool
    /// Returns whether a person watches the job of this process on a terminal of another one.
    func isWatched(_ job: JobID) -> Bool
    /// True if the store was moved or removed while it was open: no other process finds what this one would write.
    var hasMoved: Bool { get }
    /// Returns who attends to jobs of this process, as it begins.
    func attentions() -> AsyncStream<OwnerSignal>
    /// Returns what the owners that were asked show.
    func news() -> AsyncStream<JournalSignal>
    /// Gives memory back that only spares the next calls a look at the store; may block.
    func giveBackMemory()
    /// Writes what was measured and is held back for a moment: for a process that is about to end, and may have let go of the
    /// journal by then.
    var flush: @Sendable () async -> Void { get }
    /// Writes what was called for and lets all jobs' locks go; the journal is not used after.
    func close() async
    /// Writes a whole copy of the store, while it is in use.
    func backup(to path: String) async throws(JournalFailure)
}

extension SQLiteJournal: WorkspaceJournal {}

extension WorkspaceJournal {
    package var shared: (any SharedJournal)? { nil }

    /// A server's tables have no place of their own.
    package var hasMoved: Bool { false }
}
