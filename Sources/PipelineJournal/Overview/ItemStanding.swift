import PipelineCore
import PipelineSQL

/// The states of items under way: their rows say of all of them that they run.
extension JobReader {
    /// Counts the items under way of a batch by what their jobs are. They are at most as many as may be at work at once.
    func tellItemsApart(in job: inout JobSnapshot, _ living: Set<String>) throws(JournalFailure) {
        guard var counts = job.batch?.counts, let number = try batchNumber(job.record.id) else { return }
        try tellApart(&counts, of: number, living)
        job.batch?.counts = counts
    }

    /// Counts what the rows of a batch call running by what the items' jobs are. One that nobody has yet, and that needs no
    /// person to go on (``JobSnapshot/isQueued``), waits.
    func tellApart(
        _ counts: inout [ItemRecord.State: Int], of batch: Int64, _ living: Set<String>
    ) throws(JournalFailure) {
        guard let running = counts[.running], running > 0 else { return }
        try connection.readRows(
            ofUnkept: """
                WITH asked AS (SELECT CAST(:living AS TEXT) AS living)
                SELECT CASE WHEN begun.phase = 'suspended' AND begun.is_queued = 1 THEN 'waiting' ELSE begun.phase END
                    AS phase, count(*) AS count
                FROM (SELECT \(OverviewReader<Connection>.openPhase) AS phase,
                        CASE WHEN jobs.owner IS NULL AND jobs.mode = 'background' AND jobs.cause IS NULL THEN 1 ELSE 0 END
                        AS is_queued
                    FROM items JOIN jobs ON jobs.id = items.job LEFT JOIN batches ON batches.job = jobs.number
                    WHERE items.batch = :batch AND items.state = 'running' AND jobs.ended IS NULL) AS begun
                GROUP BY 1
                """, ["batch": batch, "living": Self.list(of: living)]
        ) { (row) throws(JournalFailure) in
            guard let phase = JobPhase(rawValue: row.text("phase")) else { return true }
            counts[.running, default: 0] -= row.int("count")
            counts[ItemRecord.State(phase), default: 0] += row.int("count")
            return true
        }
    }

    /// The names of the owners that are alive.
    func livingOwners() throws(JournalFailure) -> Set<String> {
        var living = LivingOwners(owners: owners)
        let names = try all("SELECT id AS owner, boot, lease_until FROM owners") { row -> String? in
            OwnerLease(row).flatMap { living.owner($0)?.text }
        }
        return Set(names.compactMap(\.self))
    }

    /// The names as one value of a statement, between bars: a list can't be one.
    static func list(of living: Set<String>) -> String { "|" + living.sorted().map { "\($0)|" }.joined() }
}
