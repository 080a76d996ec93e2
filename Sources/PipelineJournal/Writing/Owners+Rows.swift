package import PipelineCore
import PipelineSQL
package import PipelineSQLite

/// The rows of owners on one machine: the kernel's clock and lock say who lives, the writer's transaction is alone.
extension Owners: JournalOwners {
    package typealias Connection = SQLiteConnection

    package func renew(_ owner: OwnerID, on connection: SQLiteConnection) throws(JournalFailure) {
        let lease = newLease
        _ = try connection.change(
            """
            INSERT INTO owners (id, boot, lease_until) VALUES (:owner, :boot, :until)
            ON CONFLICT (id) DO UPDATE SET boot = excluded.boot, lease_until = excluded.lease_until
            """, ["owner": owner.text, "boot": lease.boot, "until": lease.until])
    }

    package func isGone(_ owner: OwnerID, on connection: SQLiteConnection) -> Bool { true }

    package func number(under lease: Lease, on connection: SQLiteConnection) throws(JournalFailure) -> Int64 {
        let rows = JobRows(connection: connection, owners: self)
        let found = try rows.first(
            "SELECT number, owner, epoch FROM jobs WHERE id = :job", ["job": lease.job.text]
        ) { row in (row.integer("number"), row.optionalText("owner"), row.int("epoch")) }
        guard let (number, owner, epoch) = found else { throw .noSuchJob(lease.job) }
        guard epoch == lease.epoch, owner == lease.owner.text else { throw .stale }
        return number
    }

    package func complete(_ job: JobRecord, _ number: Int64, on connection: SQLiteConnection) {}
}
