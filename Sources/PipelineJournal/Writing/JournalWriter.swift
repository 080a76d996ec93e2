import PipelineCore
import PipelineSQLite
import Synchronization

/// The writer to a database of SQLite.
final class JournalWriter: GroupWriter {
    let mailbox = WriteMailbox<SQLiteConnection>()
    private let database: JournalDatabase
    private let owners: Owners
    private let counted = Mutex(JournalStatistics())
    /// True while something that calls have measured waits to be written.
    private let isLagging = Atomic(false)
    let end = ThreadEnd()
    private let known = KnownMetrics()

    init(database: JournalDatabase, owners: Owners) throws(JournalFailure) {
        self.database = database
        self.owners = owners
        guard JournalThread.start({ self.run() }) else { throw .other("the journal's thread can't be started") }
    }

    var statistics: JournalStatistics { counted.withLock { $0 } }

    /// Writes what calls have measured and is held back for a moment: for a process that is about to end.
    func flush() async {
        if isLagging.load(ordering: .acquiring) { await mailbox.flush(until: end) }
    }

    /// Drops what the connection keeps in memory for later; waits for a write under way.
    func giveBackMemory() { database.giveBackMemory() }

    /// True if the database was moved or removed; waits for a write under way.
    var hasMoved: Bool {
        (try? database.access { (connection) throws(JournalFailure) in connection.hasMoved }) ?? false
    }
}

extension JournalWriter {
    private func run() {
        var expected = 1
        var lagging = LaggingMeasurements()
        while let calls = mailbox.take(
            expecting: expected, milliseconds: lagging.wait(orRenewing: owners.renewalInterval))
        {
            let renewals = owners.dueForRenewal
            guard !calls.isEmpty || !renewals.isEmpty else {
                if lagging.isDue { write(&lagging) }
                continue
            }
            write(calls, renewing: renewals, &lagging)
            // Where many work side by side one small group among large ones is chance.
            expected = max(1, calls.count, expected - (expected + 3) / 4)
        }
        if !lagging.isEmpty { write(&lagging) }
        database.close()
        owners.close()
        end.mark()
    }

    private func write(
        _ calls: [QueuedWrite<SQLiteConnection>], renewing owners: [OwnerID], _ lagging: inout LaggingMeasurements
    ) {
        let began = self.owners.now
        var group = CommitGroup(
            calls: calls, renewals: owners, leases: self.owners, known: known, lagging: lagging)
        let start = ContinuousClock.now
        let failure = writing { (connection) throws(JournalFailure) in try group.write(on: connection) }
        guard let failure else {
            if group.isCommitted {
                lagging = group.lagging
                lagging.observe(ContinuousClock.now - start)
                isLagging.store(lagging.holdsCalls, ordering: .releasing)
            }
            return finish(group, began: began)
        }
        // Whatever is small may still find room on a full disk when what is large has failed.
        if case .full = failure, calls.count > 1 {
            for call in calls { write([call], renewing: [], &lagging) }
            return
        }
        counted.withLock { $0.refused += calls.count }
        for call in calls { call.refuse(failure) }
    }

    /// Writes what was measured alone. Nobody waits for it, and after a power failure it may be missing: no sync is spent
    /// on it (sqlite.org/pragma.html#pragma_synchronous).
    private func write(_ lagging: inout LaggingMeasurements) {
        var rest = lagging
        let failure = writing { (connection) throws(JournalFailure) in
            let rows = JobRows(connection: connection, owners: owners, known: known)
            try rows.run("PRAGMA synchronous = NORMAL")
            defer {
                // Refused inside a transaction alone, in which no other could begin.
                connection.rollBack()
                try? rows.run("PRAGMA synchronous = FULL")
            }
            try rows.run("BEGIN IMMEDIATE")
            if connection.hasMoved { throw .moved(file: connection.path) }
            try rows.insert(rest.takeAll())
            try rows.run("COMMIT")
        }
        if failure == nil { lagging = rest } else { lagging.postpone() }
        isLagging.store(lagging.holdsCalls, ordering: .releasing)
    }

    private func writing(_ body: (SQLiteConnection) throws(JournalFailure) -> Void) -> JournalFailure? {
        do throws(JournalFailure) {
            try database.access(body)
            return nil
        } catch {
            return error
        }
    }

    private func finish(_ group: CommitGroup, began: Int64) {
        // Where there was no job before, all leases that there are were written here.
        if !group.renewals.isEmpty || !owners.haveJobs { owners.markRenewed(at: began) }
        counted.withLock { statistics in
            statistics.calls += group.kept.count
            statistics.refused += group.refused.count
            statistics.transactions += group.isCommitted ? 1 : 0
            statistics.largestGroup = max(statistics.largestGroup, group.kept.count)
        }
        for tell in group.kept { tell() }
        for (call, failure) in group.refused { call.refuse(failure) }
    }
}
