import PipelineCore
import PipelineSQL

/// Jobs that nobody owns, for whoever looks for work.
extension JobReader {
    /// The unfinished jobs that a background owner takes up by itself (``JobSnapshot/goesOnByItself``), and unknown ones, of
    /// which it knows that once it has read them: those with something that expires after `now` first, in the order of
    /// these times, then the oldest.
    func background(at now: Timestamp) throws(JournalFailure) -> [JobID] {
        try ownerless(
            """
            SELECT jobs.id, owner, boot, lease_until FROM jobs LEFT JOIN owners ON owners.id = jobs.owner
            WHERE ended IS NULL AND mode = 'background'
                AND (cause IS NULL OR cause NOT IN ('paused', 'interrupted') OR request = 'cancel')
            ORDER BY (SELECT min(expires) FROM steps WHERE job = jobs.number AND expires > :now) NULLS LAST, jobs.id
            """, ["now": now])
    }

    /// Jobs of which somebody is still to be notified and that nobody owns, oldest first.
    func untold() throws(JournalFailure) -> [JobID] {
        try ownerless(
            """
            SELECT jobs.id, owner, boot, lease_until FROM jobs LEFT JOIN owners ON owners.id = jobs.owner
            WHERE jobs.number IN (SELECT job FROM notifications WHERE state = 'due') ORDER BY jobs.id
            """)
    }

    private func ownerless(_ sql: StaticString, _ values: SQLValues = [:]) throws(JournalFailure) -> [JobID] {
        var living = LivingOwners(owners: owners)
        return try all(sql, values) { row in
            OwnerLease(row).flatMap { living.owner($0) } == nil ? JobID(row.text("id")) : nil
        }.compactMap { $0 }
    }
}
