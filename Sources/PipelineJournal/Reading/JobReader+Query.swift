import PipelineCore
import PipelineSQL

extension JobReader {
    /// The jobs that the query selects, newest first; rows that it does not select are not read.
    mutating func jobs(_ query: JobQuery) throws(JournalFailure) -> [OwnedJob] {
        var jobs: [OwnedJob] = []
        var living = LivingOwners(owners: owners)
        var names: Set<String>?
        for (id, lease) in try selected(query) {
            guard var snapshot = try query.isBrief ? brief(id) : snapshot(id) else { continue }
            if snapshot.batch != nil {
                if names == nil { names = try livingOwners() }
                try tellItemsApart(in: &snapshot, names ?? [])
            }
            jobs.append(OwnedJob(snapshot: snapshot, owner: lease.flatMap { living.owner($0) }))
        }
        return jobs
    }

    private func selected(_ query: JobQuery) throws(JournalFailure) -> [(JobID, OwnerLease?)] {
        var found: [(JobID, OwnerLease?)] = []
        // No id holds a character beyond this one, so that all that start with the prefix lie between.
        let values: SQLValues = [
            "prefix": query.prefix, "end": query.prefix.map { $0 + "\u{10FFFF}" }, "key": query.key,
            "pipeline": query.pipeline, "limit": query.limit ?? .max,
        ]
        try connection.readRows(ofUnkept: Self.sql(query), values) { (row) throws(JournalFailure) in
            found.append((JobID(row.text("id")), OwnerLease(row)))
            return true
        }
        return found
    }

    /// What is not asked for is no condition on a row, so that SQLite chooses the index of what is.
    private static func sql(_ query: JobQuery) -> String {
        let conditions = [
            query.prefix == nil
                ? "CAST(:prefix AS TEXT) IS NULL AND CAST(:end AS TEXT) IS NULL" : "jobs.id BETWEEN :prefix AND :end",
            query.key == nil ? "CAST(:key AS TEXT) IS NULL" : "key = :key",
            query.pipeline == nil ? "CAST(:pipeline AS TEXT) IS NULL" : "pipeline = :pipeline",
            // An item's job is found by its name alone; else it stands behind its batch.
            query.key == nil && query.prefix == nil ? "batch IS NULL" : "TRUE",
            query.isUnfinished ? "ended IS NULL" : "TRUE",
        ]
        return """
            SELECT jobs.id, owner, boot, lease_until FROM jobs LEFT JOIN owners ON owners.id = jobs.owner
            WHERE \(conditions.joined(separator: " AND ")) ORDER BY jobs.id DESC LIMIT :limit
            """
    }
}
