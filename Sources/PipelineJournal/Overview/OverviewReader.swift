import PipelineCore
import PipelineSQL

/// Pages and counts of jobs. What has ended is found by its outcome, which the journal keeps; where a job stands that has
/// not ended follows from its steps and from who is alive, and is asked of those rows alone.
struct OverviewReader<Connection: JournalConnection>: JournalAccess {
    private(set) var jobs: JobReader<Connection>
    var connection: Connection { jobs.connection }

    init(_ jobs: JobReader<Connection>) { self.jobs = jobs }

    mutating func page(_ query: JobPageQuery) throws(JournalFailure) -> [OwnedJob] {
        let living = try jobs.livingOwners()
        var found: [(JobID, OwnerID?)] = []
        let sql = """
            \(Self.asked) SELECT jobs.id, owner FROM jobs LEFT JOIN batches ON batches.job = jobs.number
            WHERE \(Self.conditions(query)) ORDER BY jobs.id DESC LIMIT (SELECT size FROM asked)
            """
        try connection.readRows(ofUnkept: sql, Self.values(query, living)) { (row) throws(JournalFailure) in
            let owner = row.optionalText("owner").map { OwnerID($0) }
            found.append((JobID(row.text("id")), owner.flatMap { living.contains($0.text) ? $0 : nil }))
            return true
        }
        var jobs: [OwnedJob] = []
        for (id, owner) in found {
            guard var snapshot = try self.jobs.brief(id) else { continue }
            try self.jobs.tellItemsApart(in: &snapshot, living)
            jobs.append(OwnedJob(snapshot: snapshot, owner: owner))
        }
        return jobs
    }

    func counts(_ query: JobPageQuery) throws(JournalFailure) -> [JobPhase: Int] {
        let living = try jobs.livingOwners()
        var counts: [JobPhase: Int] = [:]
        var open = query
        open.phase = nil
        open.before = nil
        let conditions = Self.conditions(open, hidesItems: false)
        for sql in [
            // Without a filter one look at an index; those that have not ended are few.
            """
            \(Self.asked) SELECT outcome AS phase, count(*) AS count FROM jobs
            WHERE outcome IS NOT NULL AND \(conditions) GROUP BY 1
            """,
            """
            \(Self.asked) SELECT \(Self.openPhase) AS phase, count(*) AS count
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

    /// All that a statement may read of the query: which of it is read depends on the query. The names of the living stand
    /// between bars, since a list can't be one value.
    private static var asked: String {
        """
        WITH asked AS (SELECT CAST(:phase AS TEXT) AS phase, CAST(:pipeline AS TEXT) AS pipeline,
            CAST(:batch AS TEXT) AS batch, CAST(:since AS TEXT) AS since, CAST(:before AS TEXT) AS before,
            CAST(:words AS TEXT) AS words, CAST(:beginning AS TEXT) AS beginning, CAST(:living AS TEXT) AS living,
            CAST(:size AS BIGINT) AS size)
        """
    }

    private static func values(_ query: JobPageQuery, _ living: Set<String>) -> SQLValues {
        let text = query.text.map { $0.map { "%_\\".contains($0) ? "\\\($0)" : "\($0)" }.joined() }
        return [
            "phase": query.phase?.rawValue, "pipeline": query.pipeline, "batch": query.batch?.text,
            // Ids begin with ten characters of their time.
            "since": query.since.map { String(JobID(at: $0, random: (0, 0)).text.prefix(10)) },
            "before": query.before?.text, "words": text.map { "%\($0)%" }, "beginning": text.map { "\($0)%" },
            "living": JobReader<Connection>.list(of: living), "size": query.limit,
        ]
    }

    /// The phase of a job that has not ended, as ``JobSnapshot/phase(isOwned:)`` has it.
    static var openPhase: String {
        """
        CASE
        WHEN replace((SELECT living FROM asked), '|' || owner || '|', '') <> (SELECT living FROM asked) THEN
            CASE WHEN batches.job IS NOT NULL OR request = 'cancel' OR EXISTS (\(working)) OR NOT EXISTS (\(waiting))
            THEN 'running' ELSE 'waiting' END
        WHEN batches.job IS NOT NULL THEN
            CASE WHEN is_read = 1 AND batches.unknown > 0
                AND pending - \(Connection.asidePending) + running + batches.suspended = 0
            THEN 'unknown' ELSE 'suspended' END
        WHEN \(isUnknown)
        THEN 'unknown' ELSE 'suspended' END
        """
    }

    /// The condition on a job, without a batch's, that waits for a person to settle a submit, once nobody has it.
    static var isUnknown: String {
        """
        (SELECT coalesce(max(CASE WHEN step.state = 'unknown' THEN 1 ELSE 0 END) = 1
            AND max(CASE WHEN (step.state = 'running' OR step.state = 'waiting') AND \(isOwnWork) THEN 1 ELSE 0 END) = 0,
            FALSE) FROM steps AS step WHERE step.job = jobs.number)
        """
    }

    /// The condition on a step that does something itself. A repeated stage does not, and is running until the last of
    /// its items is done: its items do.
    private static var isOwnWork: String {
        """
        (step.item >= 0 OR NOT EXISTS
            (SELECT 1 FROM steps AS item WHERE item.job = step.job AND item.stage = step.stage AND item.item >= 0))
        """
    }

    private static var working: String {
        """
        SELECT 1 FROM steps AS step WHERE step.job = jobs.number AND step.state = 'running' AND \(isOwnWork)
        """
    }

    private static var waiting: String {
        """
        SELECT 1 FROM steps AS step
        WHERE step.job = jobs.number AND (step.state = 'waiting' OR step.state = 'pending') AND \(isOwnWork)
        """
    }

    private static func conditions(_ query: JobPageQuery, hidesItems: Bool = true) -> String {
        var conditions = ["TRUE"]
        switch query.phase {
        case .succeeded, .failed, .cancelled: conditions.append("outcome = (SELECT phase FROM asked)")
        case .running, .waiting, .suspended, .unknown:
            conditions.append("jobs.ended IS NULL AND \(openPhase) = (SELECT phase FROM asked)")
        case nil: break
        }
        if query.pipeline != nil { conditions.append("jobs.pipeline = (SELECT pipeline FROM asked)") }
        if query.batch != nil {
            conditions.append("jobs.batch = (SELECT number FROM jobs WHERE id = (SELECT batch FROM asked))")
        }
        // An id begins with its time.
        if query.since != nil { conditions.append("jobs.id >= (SELECT since FROM asked)") }
        if query.before != nil { conditions.append("jobs.id < (SELECT before FROM asked)") }
        if query.text != nil {
            let held = ["jobs.key", "jobs.item_key", "jobs.pipeline"].map { like($0, "words") }.joined(
                separator: " OR ")
            conditions.append(
                """
                (\(held) OR \(like("jobs.id", "beginning")) OR outcome = 'failed' AND EXISTS (SELECT 1 FROM steps
                    WHERE job = jobs.number AND state = 'failed' AND \(like("detail", "words"))))
                """)
        }
        if hidesItems, query.isUnfiltered { conditions.append("jobs.batch IS NULL") }
        return conditions.joined(separator: " AND ")
    }

    /// Databases differ in whether LIKE knows upper case.
    private static func like(_ column: String, _ pattern: String) -> String {
        "lower(\(column)) LIKE lower((SELECT \(pattern) FROM asked)) ESCAPE '\\'"
    }
}

extension OverviewReader {
    func lastChange() throws(JournalFailure) -> Int64 {
        try first("SELECT last FROM journal_changes", [:]) { $0.integer("last") } ?? 0
    }

    func changes(after change: Int64, limit: Int) throws(JournalFailure) -> [JobChange] {
        try all(Connection.changedJobs, ["after": change, "limit": limit]) { row in
            JobChange(number: row.integer("changed"), job: JobID(row.text("id")))
        }
    }

    func ownerSummaries() throws(JournalFailure) -> [OwnerSummary] {
        var living = LivingOwners(owners: jobs.owners)
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
            SELECT started, ended, outcome FROM jobs WHERE pipeline = :pipeline AND outcome IS NOT NULL
            ORDER BY id DESC LIMIT :limit
            """, ["pipeline": pipeline, "limit": limit]
        ) { row in
            JobRun(
                started: row.time("started"), ended: row.time("ended"),
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
