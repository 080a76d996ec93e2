import CLibrary
import PipelineCore
import PipelinePostgres
import PipelineSQL
import Synchronization

/// The writer to a database of PostgreSQL, in two round trips a transaction: all statements, and the commit.
///
/// A group carries a token in the process's row. When the answer to a commit was lost, the token says after reconnecting
/// whether it was done: then nothing is sent again, else all of it is. Nothing else is written before that is known.
final class PostgresWriter: GroupWriter {
    typealias Call = QueuedWrite<PostgresConnection>

    let mailbox = WriteMailbox<PostgresConnection>()
    private let address: PostgresAddress
    private let owners: PostgresOwners
    private let counted = Mutex(JournalStatistics())
    /// True while something that calls have measured waits to be written.
    private let isLagging = Atomic(false)
    let end = ThreadEnd()
    private let outage: PostgresOutage

    init(_ address: PostgresAddress, owners: PostgresOwners, outage: PostgresOutage) throws(JournalFailure) {
        self.address = address
        self.owners = owners
        self.outage = outage
        guard JournalThread.start({ self.run() }) else { throw .other("the journal's thread can't be started") }
    }

    var statistics: JournalStatistics { counted.withLock { $0 } }

    /// Writes what calls have measured and is held back for a moment: for a process that is about to end. A database that is
    /// away is not waited for.
    func flush() async {
        if isLagging.load(ordering: .acquiring), outage.failure == nil { await mailbox.flush(until: end) }
    }

    /// The state that the thread alone has.
    private struct Link {
        var connection: PostgresConnection?
        var token = Int64.random(in: 1 ... .max / 2)
        let known = KnownMetrics()
        var lagging = LaggingMeasurements()
    }

    /// A group whose statements the server took.
    private struct WrittenGroup {
        let token: Int64
        /// The time when its transaction was begun, by the local clock.
        let began: Int64
        /// The closures that tell its callers once it is committed.
        let tell: [@Sendable () -> Void]
        /// What is still to be written then of what was measured.
        var lagging: LaggingMeasurements
    }

    private enum Attempt {
        case committed(WrittenGroup)
        /// The answer to the commit was lost: nobody knows yet whether it was done.
        case doubtful(WrittenGroup, JournalFailure)
        /// Nothing was kept; `isPassing` says that the same may succeed when it is sent again.
        case failed(JournalFailure, isAway: Bool, isPassing: Bool)
    }
}

extension PostgresWriter {
    private func run() {
        var link = Link()
        var expected = 1
        while let calls = mailbox.take(
            expecting: expected, milliseconds: link.lagging.wait(orRenewing: owners.renewalInterval))
        {
            let renewals = owners.dueForRenewal
            guard !calls.isEmpty || !renewals.isEmpty else {
                if link.lagging.isDue { writeLagging(&link) }
                continue
            }
            write(calls, renewing: renewals, &link)
            expected = max(1, calls.count, expected - (expected + 3) / 4)
        }
        if !link.lagging.isEmpty { writeLagging(&link) }
        link.connection = nil
        end.mark()
    }

    private func write(_ calls: [Call], renewing renewals: [OwnerID], _ link: inout Link) {
        let start = owners.now
        var passing = 0
        while true {
            switch attempt(calls, renewing: renewals, &link) {
            case .committed(let group): return finish(group, renewing: renewals, &link)
            case .doubtful(let group, let failure):
                switch reconcile(group, after: failure, since: start, &link) {
                case .success(true): return finish(group, renewing: renewals, &link)
                case .success(false): continue
                case .failure(let failure): return refuse(calls, failure)
                }
            case .failed(let failure, isAway: true, _):
                guard waits(for: failure, since: start, &link) else { return refuse(calls, failure) }
            case .failed(_, _, isPassing: true) where passing < 8:
                outage.end(of: .writer)
                passing += 1
                usleep(UInt32.random(in: 1_000...8_000))
            case .failed(let failure, _, _):
                outage.end(of: .writer)
                guard calls.count + (renewals.isEmpty ? 0 : 1) > 1 else { return refuse(calls, failure) }
                // One of them is in the way of the others.
                if !renewals.isEmpty { write([], renewing: renewals, &link) }
                for call in calls { write([call], renewing: [], &link) }
                return
            }
        }
    }

    private func finish(_ group: WrittenGroup, renewing renewals: [OwnerID], _ link: inout Link) {
        outage.end(of: .writer)
        link.lagging = group.lagging
        isLagging.store(link.lagging.holdsCalls, ordering: .releasing)
        if !renewals.isEmpty || !owners.haveJobs { owners.markRenewed(at: group.began) }
        counted.withLock { statistics in
            statistics.calls += group.tell.count
            statistics.transactions += 1
            statistics.largestGroup = max(statistics.largestGroup, group.tell.count)
        }
        for tell in group.tell { tell() }
    }

    /// Returns whether a group was committed, once the server says so. Every failure on the way is one of a server that is
    /// away: one that has just become the primary may refuse to write for a moment. The failure is that of the last look,
    /// when it is waited for no longer.
    private func reconcile(
        _ group: WrittenGroup, after failure: JournalFailure, since start: Int64, _ link: inout Link
    ) -> Result<Bool, JournalFailure> {
        var failure = failure
        while waits(for: failure, since: start, &link) {
            do throws(JournalFailure) {
                return .success(try isCommitted(group.token, &link))
            } catch {
                failure = error
            }
        }
        return .failure(failure)
    }

    /// Leaves the connection and waits a moment for the server; false when what began at that time has waited for long
    /// enough.
    private func waits(for failure: JournalFailure, since start: Int64, _ link: inout Link) -> Bool {
        link.connection = nil
        outage.report(failure, of: .writer)
        guard outage.allowsWaiting(since: start), !mailbox.isClosed else { return false }
        usleep(UInt32.random(in: 400_000...600_000))
        return true
    }

    private func refuse(_ calls: [Call], _ failure: JournalFailure) {
        counted.withLock { $0.refused += calls.count }
        for call in calls { call.refuse(failure) }
    }

    // MARK: One transaction

    /// Writes and commits the group once.
    private func attempt(_ calls: [Call], renewing renewals: [OwnerID], _ link: inout Link) -> Attempt {
        let connection: PostgresConnection
        do throws(PostgresError) {
            connection = try connected(&link)
        } catch {
            return .failed(JournalFailure(error, at: address), isAway: error.isAway, isPassing: false)
        }
        link.token += 1
        let began = owners.now
        let start = ContinuousClock.now
        var lagging = link.lagging
        var tell: [@Sendable () -> Void] = []
        do throws(JournalFailure) {
            try connection.begin()
            if !renewals.isEmpty { try owners.time.read(on: connection) }
            // First of all: workers' rows are locked before those of jobs, by everybody.
            try sign(link.token, on: connection)
            let measured = GatheredMeasurements()
            let rows = JobRows(
                connection: connection, owners: owners, known: link.known, gathered: measured)
            for owner in renewals { try renew(owner, rows) }
            for call in calls { tell.append(try call.perform(rows)) }
            try MeasuredRows(rows: rows).write(lagging.exchange(measured.all))
            try connection.finishSending()
        } catch {
            let cause = connection.lastError
            let isAway = cause?.isAway == true || connection.loss != nil
            connection.rollBack()
            return .failed(error, isAway: isAway, isPassing: cause?.isPassing == true)
        }
        let group = WrittenGroup(token: link.token, began: began, tell: tell, lagging: lagging)
        return commit(group, since: start, connection)
    }

    /// Writes what was measured alone. Nobody waits for it, and after a failure of the server it may be missing: neither a
    /// sync is spent on it nor another attempt.
    private func writeLagging(_ link: inout Link) {
        do {
            let connection = try connected(&link)
            defer { connection.rollBack() }
            try connection.begin()
            try connection.send(text: "SET LOCAL synchronous_commit TO off")
            let rows = JobRows(connection: connection, owners: owners, known: link.known)
            try MeasuredRows(rows: rows).write(link.lagging.takeAll())
            try connection.finishSending()
            try connection.send(text: "COMMIT")
            try connection.drained()
            connection.markTransaction(false)
        } catch {
            // What is away is told by the next write that somebody waits for.
            link.connection = nil
        }
        isLagging.store(link.lagging.holdsCalls, ordering: .releasing)
    }

    private func commit(
        _ group: WrittenGroup, since start: ContinuousClock.Instant, _ connection: PostgresConnection
    ) -> Attempt {
        var group = group
        do throws(PostgresError) {
            try connection.send(text: "COMMIT")
            try connection.drained()
            connection.markTransaction(false)
            group.lagging.observe(ContinuousClock.now - start)
            return .committed(group)
        } catch {
            let failure = JournalFailure(error, at: address)
            if error.isAway || connection.loss != nil { return .doubtful(group, failure) }
            connection.rollBack()
            return .failed(failure, isAway: false, isPassing: error.isPassing)
        }
    }

    /// Renews a lease. One that was not renewed in time may have lost jobs, which the owner must not believe to have.
    private func renew(_ owner: OwnerID, _ rows: JobRows<PostgresConnection>) throws(JournalFailure) {
        try rows.keep(owner)
        if !owners.isFresh { owners.keepOnly(try rows.jobs(of: owner), of: owner) }
    }

    private func sign(_ token: Int64, on connection: PostgresConnection) throws(JournalFailure) {
        try connection.run(
            "UPDATE workers SET token = :token WHERE id = :owner", ["token": token, "owner": owners.owner.text],
            expecting: 1
        ) { .other("the row of this worker was removed") }
    }

    /// Returns whether the group of the token was committed. Waits for a commit that is still under way on the server:
    /// it holds the row.
    private func isCommitted(_ token: Int64, _ link: inout Link) throws(JournalFailure) -> Bool {
        let connection: PostgresConnection
        do throws(PostgresError) {
            connection = try connected(&link)
        } catch {
            throw JournalFailure(error, at: address)
        }
        defer { connection.rollBack() }
        try connection.begin()
        var found: Int64?
        try connection.readRows(
            of: "SELECT token FROM workers WHERE id = :owner FOR UPDATE", ["owner": owners.owner.text]
        ) { row in
            found = row.integer("token")
            return false
        }
        return found == token
    }

    /// The connection, made again if need be, with the process's row, which must be there before the first token.
    private func connected(_ link: inout Link) throws(PostgresError) -> PostgresConnection {
        if let connection = link.connection, connection.loss == nil { return connection }
        link.connection = nil
        let connection = try PostgresConnection(address, name: "pipeline writer") { [outage] in
            outage.allowsSilence($0, of: .writer)
        }
        try connection.enter(schema: PostgresSchema.name)
        if !connection.isPooled { try connection.execute("SET \(PostgresConnection.idleLimit)") }
        // Looked for first: a server that is read-only for now still says who is there.
        let owner = (name: "owner", value: SQLParameter.text(owners.owner.text))
        let found = try connection.query(
            "SELECT 1 AS one FROM \(PostgresSchema.name).workers WHERE id = :owner", [owner])
        if found.count == 0 {
            try connection.query(
                """
                INSERT INTO \(PostgresSchema.name).workers (id, host, version, since, renewed, lease_until)
                VALUES (:owner, :host, :version, clock_timestamp(), clock_timestamp(), clock_timestamp())
                ON CONFLICT (id) DO NOTHING
                """, [owner, ("host", .text(owners.host)), ("version", .text(owners.version))])
        }
        link.connection = connection
        return connection
    }
}
