import CLibrary
package import PipelineCore
import PipelinePostgres
import PipelineSQL

/// A process that shares a journal with others, as its row says.
package struct JournalWorker: Sendable, Hashable {
    package let name: String
    package let host: String
    package let version: String
    /// The time when it began, and the one when it renewed its lease last, by the database's clock.
    package let since: Timestamp
    package let renewed: Timestamp
    package let isAlive: Bool
    package let jobs: Int
    /// The number of jobs that it runs at a time; nil for a command that stays with its own.
    package let atOnce: Int?
}

extension PostgresJournal {
    /// The processes that have jobs or wait for some, and those that died within the hour, the oldest first.
    package func workers() async throws(JournalFailure) -> [JournalWorker] {
        try await reader.read { (reader) throws(JournalFailure) in
            try reader.all(
                """
                SELECT id, host, version, CAST(extract(epoch FROM since) * 1000 AS BIGINT) AS since,
                    CAST(extract(epoch FROM renewed) * 1000 AS BIGINT) AS renewed, at_once,
                    CASE WHEN lease_until > clock_timestamp() THEN 1 ELSE 0 END AS alive,
                    (SELECT count(*) FROM jobs WHERE owner = workers.id AND ended IS NULL) AS jobs
                FROM workers
                WHERE at_once IS NOT NULL OR EXISTS (SELECT 1 FROM jobs WHERE owner = workers.id AND ended IS NULL)
                ORDER BY workers.since, id
                """
            ) { row in
                JournalWorker(
                    name: row.text("id"), host: row.text("host"), version: row.text("version"),
                    since: row.time("since"), renewed: row.time("renewed"), isAlive: row.flag("alive"),
                    jobs: row.int("jobs"), atOnce: row.optionalInt("at_once"))
            }
        }
    }

    /// Those of ``workers()``: commands that only look have no jobs, and are nothing to show.
    package func owners() async throws(JournalFailure) -> [OwnerSummary] {
        try await workers().map { OwnerSummary(owner: OwnerID($0.name), isAlive: $0.isAlive, jobs: $0.jobs) }
    }

    /// Makes this process a worker: its row is there from now on, and its lease is renewed though it has no job.
    package func becomeWorker(atOnce: Int) async throws(JournalFailure) {
        let name = owner
        try await writer.write(onCommit: { [owners] _ in owners.markWorker(name) }) { (rows) throws(JournalFailure) in
            try rows.keep(name)
            try rows.run(
                "UPDATE workers SET at_once = :at_once WHERE id = :owner", ["at_once": atOnce, "owner": name.text])
        }
        owners.markCleared(name)
    }

    /// Claims unfinished jobs that nobody has and that a background owner takes up without being told, at most so many:
    /// those with something that expires soon first, in the order of these times, then the oldest. ``acquire(_:for:)``
    /// gives the lease of each.
    package func claimJobs(_ limit: Int, at now: Timestamp) async throws(JournalFailure) -> [JobID] {
        // One that can't be let go now is with a later write.
        for lease in hub.takeOldClaims() { try? await release(lease) }
        let room = limit - hub.claims
        guard room > 0 else { return [] }
        let (owner, host, unwanted) = (owner, owners.host, hub.unwanted)
        let leases = try await writer.write(onCommit: { [owners, hub] (leases: [Lease]) in
            for lease in leases { owners.add(lease) }
            hub.keep(leases)
        }) { [owners] (rows) throws(JournalFailure) in
            try rows.keep(owner)
            if owners.mayTakeOver { try rows.freeJobsOfDeadWorkers() }
            let claimed = try rows.claim(room, expiringAfter: now, for: owner, host, unwanted)
            guard claimed.count < room else { return claimed }
            return try claimed + rows.claim(room - claimed.count, for: owner, host, unwanted)
        }
        return leases.map(\.job)
    }

    /// Returns whether a job was claimed here and not begun.
    package func isClaimed(_ job: JobID) -> Bool { hub.isClaimed(job) }

    /// The jobs of which somebody is still to be told and that nobody has, oldest first. What a dead worker had is let go
    /// with a claim, and not sooner. Of those that a worker may claim, that worker tells: who came to notify somebody
    /// would keep it from that one, and would not run it.
    package func untoldJobs() async throws(JournalFailure) -> [JobID] {
        try await reader.read { (reader) throws(JournalFailure) in
            var found: [JobID] = []
            try reader.connection.readRows(
                ofUnkept: """
                    SELECT id FROM jobs WHERE owner IS NULL AND NOT coalesce(\(JobRows<PostgresConnection>.goesOn), FALSE)
                        AND number IN (SELECT job FROM notifications WHERE state = 'due') ORDER BY id
                    """, [:]
            ) { row in
                found.append(JobID(row.text("id")))
                return true
            }
            return found
        }
    }

    /// Lets a claimed job go that is not to be begun here.
    package func decline(_ job: JobID) async throws(JournalFailure) {
        guard let lease = hub.decline(job) else { return }
        // Without a word to the others, who would say the same.
        try await writer.writeForSure(onCommit: { [owners] in owners.remove(lease) }) {
            (rows) throws(JournalFailure) in try rows.release(lease)
        }
    }

    /// The name of this machine, as jobs have it whose files are here.
    package var host: String { owners.host }

    /// The machine whose files a job or a batch needs; nil for one that any worker may take.
    package func host(of job: JobID) async throws(JournalFailure) -> String? {
        try await reader.read { (reader) throws(JournalFailure) in
            try reader.first("SELECT host FROM jobs WHERE id = :job", ["job": job.text]) { $0.optionalText("host") }
                ?? nil
        }
    }

    /// Returns when it may be worth while to claim: others told of work, or some seconds have passed.
    package func work() -> AsyncStream<Void> { hub.work() }

    /// Returns whether other processes are heard at once. Behind a pooler that gives each transaction another session they
    /// are not: then rows are looked at every five seconds.
    package var isHearing: Bool { hub.isHearing }

    /// A value of 32 bytes that all processes of the journal share, made by the first that asks.
    package func sharedKey() throws(JournalFailure) -> [UInt8] {
        do throws(PostgresError) {
            let connection = try PostgresConnection(address, name: "pipeline key")
            let fresh = (0..<32).map { _ in UInt8.random(in: .min ... .max) }
            let schema = PostgresSchema.name
            try connection.query(
                "INSERT INTO \(schema).keys (name, value) VALUES ('hash', :value) ON CONFLICT (name) DO NOTHING",
                [("value", .blob(fresh))])
            return try connection.query("SELECT value FROM \(schema).keys WHERE name = 'hash'").row(0).blob("value")
        } catch {
            throw JournalFailure(error, at: address)
        }
    }

    static var hostName: String {
        var name = [CChar](repeating: 0, count: 256)
        gethostname(&name, 255)
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// A name that no other process has: where it runs, which helps a person, and 64 random bits.
    static func newName(on host: String) -> OwnerID {
        let short = host.prefix { $0 != "." }.filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }.prefix(
            20)
        return OwnerID("\(short)-\(getpid())-" + String(UInt64.random(in: .min ... .max), radix: 36))
    }
}

extension JobRows where Connection == PostgresConnection {
    /// Lets go what dead workers had. Their rows are locked meanwhile: one that was only stopped comes back to find out. What
    /// nobody takes up by itself is kept as crashed: without an owner it would pass for one that was let go in order.
    func freeJobsOfDeadWorkers() throws(JournalFailure) {
        try run(
            """
            WITH dead AS MATERIALIZED (SELECT id FROM workers
                WHERE lease_until <= clock_timestamp() AND EXISTS (SELECT 1 FROM jobs WHERE owner = workers.id)
                FOR SHARE SKIP LOCKED)
            UPDATE jobs SET owner = NULL, later_cause = CASE
                WHEN ended IS NULL AND mode <> 'background' AND cause IS NULL THEN coalesce(later_cause, 'crashed')
                ELSE later_cause END
            WHERE owner IN (SELECT id FROM dead)
            """)
    }

    /// Claims jobs with something that expires, that of which something expires first before the others; else the oldest.
    ///
    /// Steps that expire are those of jobs that are owned or ended, too, and any number of one job. Only so many of them
    /// are looked at, the first: of a million jobs a claim must cost what it costs of a few. What is further off comes
    /// with the oldest until its time comes near.
    func claim(
        _ limit: Int, expiringAfter now: Timestamp? = nil, for owner: OwnerID, _ host: String,
        _ unwanted: (always: [JobID], whileSuspended: [JobID])
    ) throws(JournalFailure) -> [Lease] {
        let soon = """
            JOIN (SELECT job, min(expires) AS expires
                FROM (SELECT job, expires FROM steps WHERE expires > :now ORDER BY expires LIMIT 1000) AS soon
                GROUP BY job) AS pressed ON pressed.job = jobs.number
            """
        let (source, expires, order) = now == nil ? ("", "0", "id") : (soon, "pressed.expires", "pressed.expires, id")
        var claimed: [(expires: Int, lease: Lease)] = []
        try connection.readRows(
            ofUnkept: """
                WITH next AS (SELECT number, \(expires) AS expires FROM jobs \(source)
                    WHERE \(Self.mayBeClaimed) ORDER BY \(order) LIMIT :limit FOR UPDATE OF jobs SKIP LOCKED)
                UPDATE jobs SET owner = :owner, epoch = epoch + 1 FROM next WHERE jobs.number = next.number
                RETURNING id, epoch, CAST(expires AS BIGINT) AS expires
                """,
            [
                "now": now, "limit": limit, "host": host, "declined": Self.array(unwanted.always),
                "suspended": Self.array(unwanted.whileSuspended), "owner": owner.text,
            ]
        ) { row in
            let lease = Lease(job: JobID(row.text("id")), owner: owner, epoch: row.int("epoch"))
            claimed.append((row.int("expires"), lease))
            return true
        }
        // An UPDATE returns its rows in any order.
        return claimed.sorted { ($0.expires, $0.lease.job.text) < ($1.expires, $1.lease.job.text) }.map(\.lease)
    }

    /// The conditions on a job that nobody has and that may go on here, as ``JobSnapshot/goesOnByItself`` has them. What is
    /// unknown waits for a person: each worker would claim and decline it, and leave it alone once that person has
    /// resolved it.
    private static var mayBeClaimed: String {
        """
        owner IS NULL AND \(goesOn) AND (host IS NULL OR host = :host)
            AND id <> ALL (CAST(:declined AS TEXT[])) AND (cause IS NULL OR id <> ALL (CAST(:suspended AS TEXT[])))
        """
    }

    /// Those of them that are the job's own.
    fileprivate static var goesOn: String {
        """
        ended IS NULL AND mode = 'background'
            AND (cause IS NULL OR cause NOT IN ('paused', 'interrupted') OR request = 'cancel')
            AND (request = 'cancel'
                OR NOT EXISTS (SELECT 1 FROM batches WHERE job = jobs.number AND is_read = 1 AND unknown > 0
                    AND pending - \(PostgresConnection.asidePending) + running + suspended = 0)
                AND NOT \(OverviewReader<PostgresConnection>.isUnknown))
        """
    }

    /// The text form of an array; ids have no character that would have to be escaped.
    private static func array(_ jobs: [JobID]) -> String { "{" + jobs.map(\.text).joined(separator: ",") + "}" }
}
