import PipelineCore

extension JobReader {
    /// The jobs that the query selects, newest first; rows that it does not select are not read.
    mutating func jobs(_ query: JobQuery) throws(JournalFailure) -> [OwnedJob] {
        var jobs: [OwnedJob] = []
        var living: [OwnerID: Bool] = [:]
        for (id, lease) in try selected(query) {
            guard let snapshot = try query.isBrief ? brief(id) : snapshot(id) else { continue }
            let owner = lease.flatMap { lease in
                let isLiving = living[lease.owner] ?? owners.isLiving(lease.owner, boot: lease.boot, until: lease.until)
                living[lease.owner] = isLiving
                return isLiving ? lease.owner : nil
            }
            jobs.append(OwnedJob(snapshot: snapshot, owner: owner))
        }
        return jobs
    }

    private struct OwnerLease {
        let owner: OwnerID
        let boot: String
        let until: Int64
    }

    private func selected(_ query: JobQuery) throws(JournalFailure) -> [(JobID, OwnerLease?)] {
        let statement = try SQLiteStatement(Self.sql(query), on: connection)
        defer { statement.finalize() }
        if let prefix = query.prefix {
            statement.bind(1, prefix)
            // No id holds a character beyond this one, so that all that start with the prefix lie between.
            statement.bind(2, prefix + "\u{10FFFF}")
        }
        if let key = query.key { statement.bind(3, key) }
        if let pipeline = query.pipeline { statement.bind(4, pipeline) }
        statement.bind(5, query.limit ?? -1)
        var found: [(JobID, OwnerLease?)] = []
        while try statement.step() {
            let lease = statement.optionalText(1).map {
                OwnerLease(owner: OwnerID($0), boot: statement.text(2), until: statement.integer(3))
            }
            found.append((JobID(statement.text(0)), lease))
        }
        return found
    }

    private static func sql(_ query: JobQuery) -> String {
        var conditions: [String] = []
        if query.prefix != nil { conditions.append("jobs.id BETWEEN ?1 AND ?2") }
        if query.key != nil { conditions.append("key = ?3") }
        if query.pipeline != nil { conditions.append("pipeline = ?4") }
        if query.isUnfinished { conditions.append("ended IS NULL") }
        let selection = conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND ")
        return """
            SELECT jobs.id, owner, boot, lease_until FROM jobs LEFT JOIN owners ON owners.id = jobs.owner
            \(selection) ORDER BY jobs.id DESC LIMIT ?5
            """
    }
}
