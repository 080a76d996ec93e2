public import PipelineCore
import PipelineSQLite

/// The journal in one SQLite database of the state folder, shared by all processes of one user on one machine.
///
/// What a call wrote is on disk when it returns (WAL, synchronous FULL). Calls of many jobs share a transaction: one
/// thread takes what has queued. Reading goes on beside it. An owner is alive while it holds the lock of its file under
/// `owners/` and renews its lease; requests reach it through a socket beside the lock.
///
/// Only ``close()``, or the end of the object, lets the locks go: an owner keeps its journal as long as its jobs.
public final class SQLiteJournal: Journal, BatchJournal, ServiceJournal, DurationHistory, JournalOverview,
    MetricsJournal, TraceJournal
{
    /// The name under which this process owns jobs.
    public let owner: OwnerID
    let folder: StateFolder
    let writer: JournalWriter
    let reader: JournalReader
    let owners: Owners

    /// Opens the journal of a state folder; the folder and the database are made when they are not there.
    ///
    /// Throws `.notWritable` for a folder that can't be written, is a symbolic link or belongs to another user,
    /// `.newer` for a database of a later version and `.damaged` for a file that is no journal; nothing is changed then.
    /// - Parameters:
    ///   - owner: a name for ``owner``; by default one that no other process has.
    ///   - clock: what leases run by.
    ///   - leaseLength: how long an owner that is stopped, not dead, keeps its jobs.
    ///   - busyTimeout: how long to wait for another process that is writing.
    public init(
        folder: String, owner: OwnerID? = nil, clock: any LeaseClock = BootLeaseClock(),
        leaseLength: Duration = .seconds(30), busyTimeout: Duration = .seconds(10)
    ) throws(JournalFailure) {
        let folder = StateFolder(folder, busyTimeout: busyTimeout)
        let database = try JournalDatabase.open(folder)
        let milliseconds = Int64(leaseLength / .milliseconds(1))
        let owners = Owners(folder: folder, clock: clock, length: milliseconds)
        writer = try JournalWriter(database: database, owners: owners)
        reader = JournalReader(folder: folder, owners: owners)
        self.folder = folder
        self.owners = owners
        self.owner = owner ?? Owners.newName()
    }

    deinit {
        reader.close()
        writer.close()
    }

    /// The journal of a state folder that has one; nil, and nothing is made, where there is none.
    public static func openExisting(
        folder: String, owner: OwnerID? = nil, clock: any LeaseClock = BootLeaseClock(),
        leaseLength: Duration = .seconds(30)
    ) throws(JournalFailure) -> SQLiteJournal? {
        guard try StateFolder(folder).hasDatabase() else { return nil }
        return try SQLiteJournal(folder: folder, owner: owner, clock: clock, leaseLength: leaseLength)
    }

    /// Writes what was called for, closes the database and lets the locks of this journal's owners go.
    public func close() async {
        reader.close()
        writer.close()
        await writer.ended()
    }

    /// Gives memory back that only spares the next calls a look at the file: for a process that has nothing to do for
    /// long. Blocks while the journal reads or writes.
    public func giveBackMemory() {
        reader.giveBackMemory()
        writer.giveBackMemory()
    }

    /// How many calls shared how many transactions since the journal was opened.
    public var statistics: JournalStatistics { writer.statistics }
}

extension SQLiteJournal {
    public func create(
        _ job: JobSnapshot, events: [JobEvent], owner: OwnerID
    ) async throws(JournalFailure) -> Lease {
        let presence = try await enter(owner)
        let insert = { @Sendable (rows: JobRows<SQLiteConnection>) throws(JournalFailure) in
            try rows.insert(job, events, for: owner)
        }
        // Before the writer waits again: it renews leases only for owners with jobs.
        return try await writer.write(onCommit: { presence.add(job.record.id) }, insert)
    }

    public func acquire(_ job: JobID, for owner: OwnerID) async throws(JournalFailure) -> Lease {
        let presence = try await enter(owner)
        let acquire = { @Sendable (rows: JobRows<SQLiteConnection>) throws(JournalFailure) in
            try rows.acquire(job, for: owner)
        }
        return try await writer.write(onCommit: { presence.add(job) }, acquire)
    }

    public func holds(_ lease: Lease) -> Bool {
        owners.isFresh && owners.presence(lease.owner)?.has(lease.job) == true
    }

    public func release(_ lease: Lease) async throws(JournalFailure) {
        try await writer.write { (rows) throws(JournalFailure) in try rows.release(lease) }
        owners.presence(lease.owner)?.remove(lease.job)
    }

    public func commit(_ changes: [JournalChange], under lease: Lease) async throws(JournalFailure) {
        let presence = changes.contains(where: \.endsOwnership) ? owners.presence(lease.owner) : nil
        do {
            try await writer.write(onCommit: { presence?.remove(lease.job) }) { (rows) throws(JournalFailure) in
                try rows.apply(changes, to: rows.number(under: lease))
            }
        } catch {
            if error == .stale { owners.presence(lease.owner)?.remove(lease.job) }
            throw error
        }
        for case .resume(let record) in changes where record.charge == .attended {
            owners.tellAll(.fellBack(pipeline: record.pipeline))
        }
    }

    /// The owner's presence, once nothing stands under its name any more that an earlier process left.
    func enter(_ owner: OwnerID) async throws(JournalFailure) -> OwnerPresence {
        let presence = try owners.enter(owner)
        if presence.isCleared { return presence }
        let clear = { @Sendable (rows: JobRows<SQLiteConnection>) throws(JournalFailure) in
            // Another call may have been first, and taken jobs since.
            if !presence.isCleared { try rows.clear(owner) }
        }
        try await writer.write(onCommit: { presence.markCleared() }, clear)
        return presence
    }

    public func remove(_ job: JobID) async throws(JournalFailure) {
        try await writer.write { (rows) throws(JournalFailure) in try rows.remove(job) }
    }

    public func snapshot(of job: JobID) async throws(JournalFailure) -> JobSnapshot? {
        try await reader.read { (reader) throws(JournalFailure) in try reader.snapshot(job) }
    }

    public func inbox(of job: JobID) async throws(JournalFailure) -> JobInbox? {
        try await reader.read { (reader) throws(JournalFailure) in try reader.inbox(job) }
    }

    public func jobs(_ query: JobQuery) async throws(JournalFailure) -> [OwnedJob] {
        try await reader.read { (reader) throws(JournalFailure) in try reader.jobs(query) }
    }

    /// Takes the name under which this process owns jobs, before the first of them: throws when another process has it.
    public func claimName() async throws(JournalFailure) { _ = try await enter(owner) }

    /// The unfinished jobs that a background owner takes up without being told: those that nobody owns and that were
    /// started or last resumed for the background, other than paused and interrupted ones. Those with something that
    /// expires after `now` come first, in the order of these times, then the oldest.
    public func backgroundJobs(at now: Timestamp) async throws(JournalFailure) -> [JobID] {
        try await reader.read { (reader) throws(JournalFailure) in try reader.background(at: now) }
    }

    /// The jobs of which somebody is still to be told and that nobody owns, oldest first.
    public func untoldJobs() async throws(JournalFailure) -> [JobID] {
        try await reader.read { (reader) throws(JournalFailure) in try reader.untold() }
    }

    public func events(of job: JobID, after sequence: Int) async throws(JournalFailure) -> [JobEvent] {
        try await reader.read { (reader) throws(JournalFailure) in try reader.events(job, after: sequence) }
    }
}

extension SQLiteJournal {
    public func post(_ request: JobRequest, to job: JobID) async throws(JournalFailure) -> Bool {
        let owner = try await writer.write { (rows) throws(JournalFailure) in try rows.post(request, to: job) }
        guard let owner else { return false }
        return owners.wake(owner, for: job)
    }

    public func post(_ push: Callback, to step: StepKey, of job: JobID) async throws(JournalFailure) -> CallbackReceipt
    {
        let (isNew, owner) = try await writer.write { (rows) throws(JournalFailure) in
            try rows.post(push, to: step, of: job)
        }
        return CallbackReceipt(isNew: isNew, isHeard: owner.map { owners.wake($0, for: job) } ?? false)
    }

    public func requests(for owner: OwnerID) -> AsyncStream<JobID> {
        AsyncStream { continuation in
            do throws(JournalFailure) {
                let presence = try owners.enter(owner)
                presence.listen(continuation) { [reader] in
                    let found = Result { () throws(JournalFailure) in
                        try reader.readBlocking { (reader) throws(JournalFailure) in try reader.requests(for: owner) }
                    }
                    return (try? found.get()) ?? []
                }
            } catch {
                continuation.finish()
            }
        }
    }
}

extension SQLiteJournal {
    public func resumes(since time: Timestamp, of pipeline: String?) async throws(JournalFailure) -> [ResumeRecord] {
        try await reader.read { (reader) throws(JournalFailure) in try reader.resumes(since: time, of: pipeline) }
    }

    public func resumes(after number: Int, since time: Timestamp) async throws(JournalFailure) -> ResumeRows {
        try await reader.read { (reader) throws(JournalFailure) in try reader.resumes(after: number, since: time) }
    }

    public func samples(of pipeline: String, limit: Int) async throws(JournalFailure) -> [StageSample] {
        try await reader.read { (reader) throws(JournalFailure) in try reader.samples(of: pipeline, limit: limit) }
    }

    public func runningSamples(
        of pipeline: String, besides owner: OwnerID, at now: Timestamp, limit: Int
    ) async throws(JournalFailure) -> [StageSample] {
        try await reader.read { (reader) throws(JournalFailure) in
            try reader.running(of: pipeline, besides: owner, at: now, limit: limit)
        }
    }

    public func pipelines() async throws(JournalFailure) -> [String] {
        try await reader.read { (reader) throws(JournalFailure) in try reader.pipelines() }
    }
}
