import JSONPath
import PipelineCore
import PipelineSQL

/// Reads batches and items, in the transaction of whoever reads or writes.
extension JournalAccess {
    func batch(_ number: Int64) throws(JournalFailure) -> BatchRecord? {
        try first(
            """
            SELECT sources, folder, settings, place, is_read, pending, running, suspended, unknown, succeeded, failed,
                cancelled, duplicate, streak, streak_stage, streak_code, stopped, cost, bytes_sent, bytes_received
            FROM batches WHERE job = :job
            """, ["job": number]
        ) { (row) throws(JournalFailure) in
            guard let settings = BatchSettings(try row.object("settings")) else {
                throw row.damaged("the settings of a batch can't be read")
            }
            var batch = BatchRecord(
                sources: (try row.json("sources").array ?? []).compactMap(\.string), folder: row.text("folder"),
                settings: settings)
            if !row.isNull("place") {
                let place = try row.object("place")
                let notes = ReadingNotes(place)
                (batch.place, batch.aside, batch.otherEnds) = (ReadingPlace(place), notes.aside, notes.otherEnds)
            }
            batch.isRead = row.flag("is_read")
            batch.isStopped = !row.isNull("stopped")
            // Rows of before were added up in binary.
            batch.cost = row.isNull("cost") ? nil : Amount(row.double("cost")).double
            batch.moved = BytesMoved(sent: row.integer("bytes_sent"), received: row.integer("bytes_received"))
            for state in ItemRecord.State.allCases where state.isKept {
                batch.counts[state] = row.int(state.rawValue)
            }
            if row.int("streak") > 0 {
                batch.streak = FailureStreak(
                    group: ItemFailure.Group(
                        stage: row.optionalText("streak_stage"), code: row.text("streak_code")),
                    count: row.int("streak"))
            }
            return batch
        }
    }

    /// The counters of batches that are not what their rows say, a sentence each.
    func wrongCounts() throws(JournalFailure) -> [String] {
        var mistakes: [String] = []
        let batches = try all("SELECT job, key FROM batches JOIN jobs ON jobs.number = batches.job") { row in
            (number: row.integer("job"), key: row.text("key"))
        }
        for (number, key) in batches {
            guard let batch = try batch(number) else { continue }
            let rows = try all(
                "SELECT state, count(*) AS count FROM items WHERE batch = :batch GROUP BY state", ["batch": number]
            ) { row in (state: row.text("state"), count: row.int("count")) }
            let counted = Dictionary(rows.map { ($0.state, $0.count) }, uniquingKeysWith: { first, _ in first })
            for state in ItemRecord.State.allCases where batch.count(state) != counted[state.rawValue] ?? 0 {
                mistakes.append(
                    "the batch '\(key)' says that \(batch.count(state)) items are \(state.rawValue), "
                        + "and \(counted[state.rawValue] ?? 0) are")
            }
        }
        return mistakes
    }

    /// The number of a batch's row; nil for a job that is none.
    func batchNumber(_ job: JobID) throws(JournalFailure) -> Int64? {
        try first(
            "SELECT jobs.number FROM jobs JOIN batches ON batches.job = jobs.number WHERE id = :job", ["job": job.text]
        ) { $0.integer("number") }
    }

    /// Returns whether a file is that of the item of a job by now.
    func isClaimed(_ path: String, by job: JobID) throws(JournalFailure) -> Bool {
        try first(
            """
            SELECT 1 AS one FROM jobs JOIN targets ON targets.batch = jobs.batch
                JOIN items ON items.batch = targets.batch AND items.number = targets.number
                    AND items.key = jobs.item_key
            WHERE jobs.id = :job AND targets.path = :path
            """, ["job": job.text, "path": path]
        ) { _ in true } ?? false
    }

    func item(_ number: Int, of batch: Int64) throws(JournalFailure) -> ItemRecord? {
        try first(
            "SELECT * FROM items WHERE batch = :batch AND number = :number", ["batch": batch, "number": number]
        ) { (row) throws(JournalFailure) in try ItemRecord(row) }
    }

    func item(key: String, of batch: Int64) throws(JournalFailure) -> ItemRecord? {
        let found = try first(
            "SELECT * FROM items WHERE batch = :batch AND key = :key", ["batch": batch, "key": key]
        ) { (row) throws(JournalFailure) in try ItemRecord(row) }
        if found != nil { return found }
        return try Int(key).flatMap { (number) throws(JournalFailure) in try item(number, of: batch) }
    }

    func items(
        of batch: Int64, in states: Set<ItemRecord.State>?, after number: Int, limit: Int
    ) throws(JournalFailure) -> [ItemRecord] {
        guard let states else {
            return try all(
                "SELECT * FROM items WHERE batch = :batch AND number > :after ORDER BY number LIMIT :limit",
                ["batch": batch, "after": number, "limit": limit]
            ) { (row) throws(JournalFailure) in try ItemRecord(row) }
        }
        var found: [ItemRecord] = []
        for state in states {
            found += try all(
                state == .succeeded || state == .duplicate ? ItemQueries.all : ItemQueries.indexed,
                ["batch": batch, "state": state.rawValue, "after": number, "limit": limit]
            ) { (row) throws(JournalFailure) in try ItemRecord(row) }
        }
        return Array(found.sorted { $0.number < $1.number }.prefix(limit))
    }

    func pendingItems(of batch: Int64, limit: Int) throws(JournalFailure) -> [ItemRecord] {
        try all(
            """
            SELECT * FROM items WHERE batch = :batch AND state = 'pending' AND state <> 'succeeded'
                AND state <> 'duplicate' AND coalesce(reading, 1) > 0
            ORDER BY number LIMIT :limit
            """, ["batch": batch, "limit": limit]
        ) { (row) throws(JournalFailure) in try ItemRecord(row) }
    }

    func failures(of batch: Int64, limit: Int) throws(JournalFailure) -> [FailureGroup] {
        try all(
            """
            SELECT stage, coalesce(CASE WHEN status >= 400 THEN CAST(status AS TEXT) END, error ->> 'code',
                    error ->> 'title') AS code,
                count(*) AS count, min(number) AS first, max(attempt) AS attempts
            FROM items WHERE batch = :batch AND state = 'failed' AND state <> 'succeeded' AND state <> 'duplicate'
            GROUP BY stage, code ORDER BY count DESC, first LIMIT :limit
            """, ["batch": batch, "limit": limit]
        ) { (row) throws(JournalFailure) in
            let example = try item(row.int("first"), of: batch)
            var group = FailureGroup(
                stage: row.optionalText("stage"), code: row.text("code"), count: row.int("count"),
                example: example?.key ?? "", message: example?.failure?.failure.title ?? "")
            group.wasBegun = row.int("attempts") > 0
            if !group.wasBegun { group.place = example?.failure?.failure.place }
            return group
        }
    }
}

/// The queries for items in a state.
enum ItemQueries {
    static let all: StaticString = """
        SELECT * FROM items WHERE batch = :batch AND state = :state AND number > :after
        ORDER BY number LIMIT :limit
        """

    /// The same for the states that the index `items_by_state` has: SQLite uses an index of a part of a table only if the
    /// query repeats the index's condition (*Partial Indexes*, section 3).
    static let indexed: StaticString = """
        SELECT * FROM items WHERE batch = :batch AND state = :state AND state <> 'succeeded' AND state <> 'duplicate'
            AND number > :after
        ORDER BY number LIMIT :limit
        """
}

extension ItemRecord {
    init(_ row: some SQLRow) throws(JournalFailure) {
        guard let state = State(rawValue: row.text("state")) else {
            throw row.damaged("the item \(row.int("number")) is in an unknown state")
        }
        self.init(
            number: row.int("number"), key: row.optionalText("key") ?? row.text("duplicate_of"),
            line: row.optionalInt("line"), inputs: try row.object("inputs"), state: state,
            job: row.optionalText("job").map { JobID($0) }, attempt: row.int("attempt"),
            ended: row.optionalTime("ended"), seconds: row.isNull("seconds") ? nil : row.double("seconds"))
        cost = row.isNull("cost") ? nil : row.double("cost")
        moved = BytesMoved(sent: row.integer("bytes_sent"), received: row.integer("bytes_received"))
        if !row.isNull("error") {
            failure = ItemFailure(
                stage: row.optionalText("stage"), failure: StepFailure(json: try row.json("error")))
        }
        if !row.isNull("results") { results = try row.object("results") }
        files = (try row.json("files").array ?? []).compactMap(\.string)
        isAside = row.isAside
    }
}

extension ItemFailure {
    /// The form of the column, in which the code of its group stands where no other column or member says it. Rows of before
    /// are alike by their titles.
    func json(in group: Group) -> JSON {
        guard refusal == nil, group.code != failure.title, var object = failure.json.object else { return failure.json }
        object["code"] = .string(group.code)
        return .object(object)
    }
}

extension BatchSettings {
    /// The form of the column.
    var json: JSON {
        [
            "atOnce": .number(JSONNumber(atOnce)), "tolerate": JSON(tolerance?.text),
            "stopAfter": .number(JSONNumber(stopAfter)), "results": JSON(results),
            "spend": spend.map { .number(JSONNumber($0)) } ?? .null, "forgiven": .number(JSONNumber(forgiven)),
            "unpriced": .number(JSONNumber(unpriced)), "from": JSON(from),
        ]
    }

    init?(_ object: JSONObject) {
        guard let atOnce = object["atOnce"]?.number?.int, let stopAfter = object["stopAfter"]?.number?.int else {
            return nil
        }
        self.init(
            atOnce: atOnce, tolerance: object["tolerate"]?.string.flatMap { FailureTolerance($0) },
            stopAfter: stopAfter, results: object["results"]?.string, spend: object["spend"]?.number?.double)
        forgiven = object["forgiven"]?.number?.int ?? 0
        unpriced = object["unpriced"]?.number?.int ?? 0
        from = object["from"]?.string
    }
}

extension ReadingPlace {
    /// The form of the column.
    func json(_ notes: ReadingNotes) -> JSON {
        guard var object = json.object else { return json }
        let counts = notes.aside.filter { $0.value > 0 }.sorted { $0.key.rawValue < $1.key.rawValue }
        if !counts.isEmpty {
            object["aside"] = .object(JSONObject(counts.map { ($0.key.rawValue, .number(JSONNumber($0.value))) }))
        }
        if notes.otherEnds != 0 { object["otherEnds"] = .number(JSONNumber(notes.otherEnds)) }
        return .object(object)
    }

    private var json: JSON {
        [
            "source": .number(JSONNumber(source)), "offset": offset.map { .number(JSONNumber(Int($0))) } ?? .null,
            "line": line.map { .number(JSONNumber($0)) } ?? .null, "path": JSON(path), "fingerprint": JSON(fingerprint),
        ]
    }

    init?(_ object: JSONObject) {
        guard let source = object["source"]?.number?.int else { return nil }
        self.init(
            source: source, offset: object["offset"]?.number?.int.map { Int64($0) }, line: object["line"]?.number?.int,
            path: object["path"]?.string, fingerprint: object["fingerprint"]?.string)
    }
}
