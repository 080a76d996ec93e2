import JSONPath
import PipelineCore
import PipelineSQL
import PipelineSQLite

/// Pages and counts of jobs. What has ended is found by its outcome, which the journal keeps; where a job stands that has
/// not ended follows from its steps and from who is alive, and is asked of those rows alone.
struct OverviewReader: JournalAccess {
    private(set) var jobs: JobReader<SQLiteConnection>
    var connection: SQLiteConnection { jobs.connection }
    private var owners: Owners { jobs.owners }

    init(_ jobs: JobReader<SQLiteConnection>) { self.jobs = jobs }

    mutating func page(_ query: JobPageQuery) throws(JournalFailure) -> [OwnedJob] {
        let living = try livingOwners()
        var found: [(JobID, OwnerID?)] = []
        let sql = """
            SELECT jobs.id, owner FROM jobs LEFT JOIN batches ON batches.job = jobs.number
            WHERE \(Self.conditions(query)) ORDER BY jobs.id DESC LIMIT (:query ->> '$.limit')
            """
        try connection.readRows(ofUnkept: sql, Self.values(query, living)) { (row) throws(JournalFailure) in
            let owner = row.optionalText("owner").map { OwnerID($0) }
            found.append((JobID(row.text("id")), owner.flatMap { living.contains($0.text) ? $0 : nil }))
            return true
        }
        var jobs: [OwnedJob] = []
        for (id, owner) in found {
            if let snapshot = try self.jobs.brief(id) { jobs.append(OwnedJob(snapshot: snapshot, owner: owner)) }
        }
        return jobs
    }

    func counts(_ query: JobPageQuery) throws(JournalFailure) -> [JobPhase: Int] {
        let living = try livingOwners()
        var counts: [JobPhase: Int] = [:]
        var open = query
        open.phase = nil
        open.before = nil
        let conditions = Self.conditions(open, hidesItems: false)
        for sql in [
            // Without a filter one look at an index; those that have not ended are few.
            "SELECT outcome AS phase, count(*) AS count FROM jobs WHERE outcome IS NOT NULL AND \(conditions) GROUP BY 1",
            """
            SELECT \(Self.openPhase) AS phase, count(*) AS count
            FROM jobs LEFT JOIN batches ON batches.job = jobs.number
            WHERE jobs.ended IS NULL AND \(conditions) GROUP BY 1
            """,
        ] {
            try connection.readRows(ofUnkept: sql, Self.values(open, living)) { (row) throws(JournalFailure) in
                if let phase = JobPhase(rawValue: row.text("phase")) { counts[phase, default: 0] += row.int("count") }
                return true
            }
        }
        return counts
    }

    /// The names of the owners that are alive.
    private func livingOwners() throws(JournalFailure) -> Set<String> {
        var living = LivingOwners(owners: owners)
        let names = try all("SELECT id AS owner, boot, lease_until FROM owners") { row -> String? in
            OwnerLease(row).flatMap { living.owner($0)?.text }
        }
        return Set(names.compactMap(\.self))
    }

    /// The phase of a job that has not ended, as ``JobSnapshot/phase(isOwned:)`` has it.
    private static let openPhase = """
        CASE
        WHEN owner IN (SELECT value FROM json_each(:query, '$.living')) THEN
            CASE WHEN batches.job IS NOT NULL OR request = 'cancel' OR EXISTS (\(working)) OR NOT EXISTS (\(waiting))
            THEN 'running' ELSE 'waiting' END
        WHEN batches.job IS NOT NULL THEN
            CASE WHEN is_read AND batches.unknown > 0 AND pending + running + batches.suspended = 0
            THEN 'unknown' ELSE 'suspended' END
        WHEN EXISTS (SELECT 1 FROM steps WHERE job = jobs.number AND state = 'unknown')
            AND NOT EXISTS (SELECT 1 FROM steps WHERE job = jobs.number AND (state = 'running' OR state = 'waiting'))
        THEN 'unknown' ELSE 'suspended' END
        """

    /// A repeated stage does nothing itself: its items do.
    private static let isOwnWork = """
        (step.item >= 0 OR NOT EXISTS
            (SELECT 1 FROM steps AS item WHERE item.job = step.job AND item.stage = step.stage AND item.item >= 0))
        """
    private static let working = """
        SELECT 1 FROM steps AS step WHERE step.job = jobs.number AND step.state = 'running' AND \(isOwnWork)
        """
    private static let waiting = """
        SELECT 1 FROM steps AS step
        WHERE step.job = jobs.number AND (step.state = 'waiting' OR step.state = 'pending') AND \(isOwnWork)
        """

    private static func conditions(_ query: JobPageQuery, hidesItems: Bool = true) -> String {
        var conditions = [":query IS NOT NULL"]
        switch query.phase {
        case .succeeded, .failed, .cancelled: conditions.append("outcome = (:query ->> '$.phase')")
        case .running, .waiting, .suspended, .unknown:
            conditions.append("jobs.ended IS NULL AND \(openPhase) = (:query ->> '$.phase')")
        case nil: break
        }
        if query.pipeline != nil { conditions.append("jobs.pipeline = (:query ->> '$.pipeline')") }
        if query.batch != nil {
            conditions.append("jobs.batch = (SELECT number FROM jobs WHERE id = (:query ->> '$.batch'))")
        }
        // An id begins with its time.
        if query.since != nil { conditions.append("jobs.id >= (:query ->> '$.since')") }
        if query.before != nil { conditions.append("jobs.id < (:query ->> '$.before')") }
        if query.text != nil {
            conditions.append(
                """
                (jobs.key LIKE (:query ->> '$.text') ESCAPE '\\' OR jobs.item_key LIKE (:query ->> '$.text') ESCAPE '\\'
                    OR jobs.pipeline LIKE (:query ->> '$.text') ESCAPE '\\' OR jobs.id LIKE (:query ->> '$.start') ESCAPE '\\'
                    OR outcome = 'failed' AND EXISTS (SELECT 1 FROM steps
                        WHERE job = jobs.number AND state = 'failed' AND detail LIKE (:query ->> '$.text') ESCAPE '\\'))
                """)
        }
        if hidesItems, query.isUnfiltered { conditions.append("jobs.batch IS NULL") }
        return conditions.joined(separator: " AND ")
    }

    /// All that a statement may read of the query, as one value: which of it is read depends on the query.
    private static func values(_ query: JobPageQuery, _ living: Set<String>) -> SQLiteValues {
        let text = query.text.map { $0.map { "%_\\".contains($0) ? "\\\($0)" : "\($0)" }.joined() }
        let object: JSONObject = [
            "phase": JSON(query.phase?.rawValue), "pipeline": JSON(query.pipeline), "batch": JSON(query.batch?.text),
            // Ids begin with ten characters of their time.
            "since": JSON(query.since.map { String(JobID(at: $0, random: (0, 0)).text.prefix(10)) }),
            "before": JSON(query.before?.text), "text": JSON(text.map { "%\($0)%" }),
            "start": JSON(text.map { "\($0)%" }), "living": .array(living.sorted().map { .string($0) }),
            "limit": .number(JSONNumber(query.limit)),
        ]
        return ["query": JSON.object(object)]
    }
}

extension OverviewReader {
    func lastChange() throws(JournalFailure) -> Int64 {
        try first("SELECT last FROM journal_changes", [:]) { $0.integer("last") } ?? 0
    }

    func changes(after change: Int64, limit: Int) throws(JournalFailure) -> [JobChange] {
        try all(
            "SELECT changed, id FROM jobs WHERE changed > :after ORDER BY changed LIMIT :limit",
            ["after": change, "limit": limit]
        ) { JobChange(number: $0.integer("changed"), job: JobID($0.text("id"))) }
    }

    func ownerSummaries() throws(JournalFailure) -> [OwnerSummary] {
        var living = LivingOwners(owners: owners)
        return try all(
            """
            SELECT owners.id AS owner, boot, lease_until,
                (SELECT count(*) FROM jobs WHERE jobs.owner = owners.id AND ended IS NULL) AS jobs
            FROM owners ORDER BY owners.id
            """
        ) { row in
            OwnerLease(row).map { lease in
                OwnerSummary(owner: lease.owner, isAlive: living.owner(lease) != nil, jobs: row.int("jobs"))
            }
        }.compactMap(\.self)
    }

    func runs(of pipeline: String, limit: Int) throws(JournalFailure) -> [JobRun] {
        try all(
            """
            SELECT id, started, ended, outcome FROM jobs WHERE pipeline = :pipeline AND outcome IS NOT NULL
            ORDER BY id DESC LIMIT :limit
            """, ["pipeline": pipeline, "limit": limit]
        ) { row in
            JobRun(
                job: JobID(row.text("id")), started: row.time("started"), ended: row.time("ended"),
                outcome: JobPhase(rawValue: row.text("outcome")) ?? .failed)
        }.reversed()
    }

    func computations() throws(JournalFailure) -> [StageCount] {
        try all(
            """
            SELECT pipeline, submits.stage AS stage, count(*) AS count
            FROM jobs JOIN submits ON submits.job = jobs.number
                JOIN steps ON steps.job = jobs.number AND steps.stage = submits.stage AND steps.item = submits.item
            WHERE jobs.ended IS NULL AND phase <> 'intent' AND phase <> 'refused'
                AND (state = 'running' OR state = 'waiting' OR state = 'unknown')
            GROUP BY 1, 2 ORDER BY 1, 2
            """
        ) { StageCount(pipeline: $0.text("pipeline"), stage: $0.text("stage"), count: $0.int("count")) }
    }

    func itemEnds(of batch: Int64, since: Timestamp, slot: Int64) throws(JournalFailure) -> [ItemEnds] {
        try all(
            """
            SELECT (ended - :since) / :slot AS slot, state, count(*) AS count FROM items
            WHERE batch = :batch AND ended >= :since GROUP BY 1, 2 ORDER BY 1, 2
            """, ["batch": batch, "since": since, "slot": max(1, slot)]
        ) { row in
            ItemRecord.State(rawValue: row.text("state")).map {
                ItemEnds(slot: row.int("slot"), state: $0, count: row.int("count"))
            }
        }.compactMap(\.self)
    }

    func slowestItems(of batch: Int64, limit: Int) throws(JournalFailure) -> [ItemRecord] {
        let numbers = try all(
            "SELECT number FROM items WHERE batch = :batch AND seconds IS NOT NULL ORDER BY seconds DESC LIMIT :limit",
            ["batch": batch, "limit": limit]
        ) { $0.int("number") }
        var items: [ItemRecord] = []
        for number in numbers { if let item = try jobs.item(number, of: batch) { items.append(item) } }
        return items
    }
}
