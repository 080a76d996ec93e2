package import PipelineCore
package import PipelineSQLite

/// The journal in one SQLite database of the state folder, shared by all processes of one user on one machine.
///
/// What a call wrote is on disk when it returns (WAL, synchronous FULL). Calls of many jobs share a transaction: one
/// thread takes what has queued. Reading goes on next to it. An owner is alive while it holds the lock of its file under
/// `owners/` and renews its lease; requests reach it through a socket next to the lock.
///
/// Only ``close()``, or the end of the object, lets the locks go: an owner keeps its journal as long as its jobs.
package final class SQLiteJournal: DatabaseJournal {
    /// The name under which this process owns jobs.
    package let owner: OwnerID
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
    package init(
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
    package static func openExisting(
        folder: String, clock: any LeaseClock = BootLeaseClock()
    ) throws(JournalFailure) -> SQLiteJournal? {
        guard try StateFolder(folder).hasDatabase() else { return nil }
        return try SQLiteJournal(folder: folder, clock: clock)
    }

    /// Returns whether a process has jobs under that name in the journal of the state folder, or is about to.
    package static func isTaken(_ owner: OwnerID, in folder: String) -> Bool {
        FileLock.isHeld("\(StateFolder(folder).owners)/\(OwnerPresence.lockName(owner))")
    }

    /// Writes what was called for, closes the database and lets the locks of this journal's owners go.
    package func close() async {
        reader.close()
        writer.close()
        await writer.ended()
    }

    /// Gives memory back that only spares the next calls a look at the file: for a process that has nothing to do for
    /// long. Blocks while the journal reads or writes.
    package func giveBackMemory() {
        reader.giveBackMemory()
        writer.giveBackMemory()
    }

    /// True if the database was moved or removed since it was opened. Blocks while the journal writes.
    package var hasMoved: Bool { writer.hasMoved }

    /// Writes what was measured and is held back for a moment: for a process that is about to end, and may have let go of the
    /// journal by then.
    package var flush: @Sendable () async -> Void { { [writer] in await writer.flush() } }

    /// The numbers of calls and of the transactions that they shared, since the journal was opened.
    package var statistics: JournalStatistics { writer.statistics }
}

extension SQLiteJournal {
    package func read<Value: Sendable>(
        _ body: @escaping @Sendable (inout JobReader<SQLiteConnection>) throws(JournalFailure) -> Value
    ) async throws(JournalFailure) -> Value { try await reader.read(body) }

    package func write<Value: Sendable>(
        _ body: @escaping @Sendable (JobRows<SQLiteConnection>) throws(JournalFailure) -> Value
    ) async throws(JournalFailure) -> Value { try await writer.write(body) }

    package func own(
        as owner: OwnerID, _ body: @escaping @Sendable (JobRows<SQLiteConnection>) throws(JournalFailure) -> Lease
    ) async throws(JournalFailure) -> Lease {
        let presence = try await enter(owner)
        // Before the writer waits again: it renews leases only for owners with jobs.
        return try await writer.write(onCommit: { presence.add($0.job) }, body)
    }

    package func holds(_ lease: Lease) -> Bool {
        owners.isFresh && owners.presence(lease.owner)?.has(lease.job) == true
    }

    package func release(_ lease: Lease) async throws(JournalFailure) {
        try await writer.writeForSure(onCommit: { [owners] in owners.presence(lease.owner)?.remove(lease.job) }) {
            (rows) throws(JournalFailure) in try rows.release(lease)
        }
    }

    package func commit(_ changes: [JournalChange], under lease: Lease) async throws(JournalFailure) {
        let presence = changes.contains(where: \.endsOwnership) ? owners.presence(lease.owner) : nil
        do {
            try await writer.write(onCommit: { _ in presence?.remove(lease.job) }) { (rows) throws(JournalFailure) in
                try rows.apply(changes, to: rows.number(under: lease))
            }
        } catch {
            if error == .stale { owners.presence(lease.owner)?.remove(lease.job) }
            throw error
        }
        for case .resume(let record) in changes where record.charge == .attended {
            owners.tellAll(.delaysReset(pipeline: record.pipeline))
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
        try await writer.write(onCommit: { _ in presence.markCleared() }, clear)
        return presence
    }

    /// Takes the name under which this process owns jobs, before the first of them: throws when another process has it.
    package func claimName() async throws(JournalFailure) { _ = try await enter(owner) }

}

extension SQLiteJournal {
    package func post(_ request: JobRequest, to job: JobID) async throws(JournalFailure) -> Bool {
        let owner = try await writer.write { (rows) throws(JournalFailure) in try rows.post(request, to: job) }
        guard let owner else { return false }
        return owners.wake(owner, for: job)
    }

    package func post(_ push: Callback, to step: StepKey, of job: JobID) async throws(JournalFailure) -> CallbackReceipt
    {
        let (isNew, owner) = try await writer.write { (rows) throws(JournalFailure) in
            try rows.post(push, to: step, of: job)
        }
        return CallbackReceipt(isNew: isNew, isHeard: owner.map { owners.wake($0, for: job) } ?? false)
    }

    package func requests(for owner: OwnerID) -> AsyncStream<JobID> {
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
