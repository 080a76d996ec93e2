import PipelineCore
import PipelineSQLite

/// The calls of one transaction: each inside a savepoint of its own, so that one which is refused spoils no other.
struct CommitGroup {
    let calls: [QueuedWrite<SQLiteConnection>]
    /// Owners whose leases are renewed on the way.
    let renewals: [OwnerID]
    let leases: Owners
    let known: KnownMetrics
    /// The measurements of the calls that were kept: written once for all.
    private var gathered = GatheredMeasurements.Content()
    /// Those that may wait; once the group is committed, without what it wrote.
    private(set) var lagging: LaggingMeasurements
    /// The closures that tell the callers whose rows were kept.
    private(set) var kept: [@Sendable () -> Void] = []
    private(set) var refused: [(QueuedWrite<SQLiteConnection>, JournalFailure)] = []
    private(set) var isCommitted = false

    init(
        calls: [QueuedWrite<SQLiteConnection>], renewals: [OwnerID], leases: Owners,
        known: KnownMetrics = KnownMetrics(), lagging: LaggingMeasurements = LaggingMeasurements()
    ) {
        self.known = known
        self.lagging = lagging
        self.calls = calls
        self.renewals = renewals
        self.leases = leases
    }

    /// Writes and commits; when it throws, nothing of the whole group was kept.
    mutating func write(on connection: SQLiteConnection) throws(JournalFailure) {
        let rows = JobRows(connection: connection, owners: leases, known: known)
        try rows.run("BEGIN IMMEDIATE")
        do throws(JournalFailure) {
            for owner in renewals { try renew(owner, rows) }
            for call in calls { try write(call, rows) }
            isCommitted = !kept.isEmpty || !renewals.isEmpty
            if isCommitted {
                // Whoever comes next finds another journal, or none: a submit that only this one knows would be sent twice.
                if connection.hasMoved { throw .moved(file: connection.path) }
                try rows.insert(lagging.exchange(gathered))
                try rows.run("COMMIT")
            } else {
                connection.rollBack()
            }
        } catch {
            isCommitted = false
            connection.rollBack()
            throw error
        }
    }

    /// Renews a lease. One that was not renewed in time may have lost jobs, which the owner must not believe to have.
    private func renew(_ owner: OwnerID, _ rows: JobRows<SQLiteConnection>) throws(JournalFailure) {
        if !leases.isFresh { leases.presence(owner)?.keepOnly(try rows.jobs(of: owner)) }
        try rows.keep(owner)
    }

    private mutating func write(_ call: QueuedWrite<SQLiteConnection>, _ rows: JobRows<SQLiteConnection>)
        throws(JournalFailure)
    {
        let isAlone = calls.count == 1 && renewals.isEmpty
        if !isAlone { try rows.run("SAVEPOINT call") }
        // What one that is refused has measured is not counted either.
        var rows = rows
        rows.gathered = GatheredMeasurements()
        do throws(JournalFailure) {
            kept.append(try call.perform(rows))
            gathered.add(rows.gathered.all)
        } catch {
            guard error.concernsOneCall, rows.connection.isInTransaction else { throw error }
            refused.append((call, error))
            if !isAlone { try rows.run("ROLLBACK TO call") }
        }
        if !isAlone { try rows.run("RELEASE call") }
    }
}
