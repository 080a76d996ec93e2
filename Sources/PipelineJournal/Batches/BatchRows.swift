import JSONPath
import PipelineCore
import PipelineSQL

/// The rows of batches inside the writer's transaction, and those of their items as they are read.
struct BatchRows<Connection: JournalConnection>: JournalAccess {
    let jobs: JobRows<Connection>

    var connection: Connection { jobs.connection }
    private var itemRows: ItemRows<Connection> { ItemRows(connection: connection) }

    func insert(_ batch: BatchRecord, for job: JobID) throws(JournalFailure) {
        try run(
            """
            INSERT INTO batches (job, sources, folder, settings, is_read)
            SELECT number, :sources, :folder, :settings, 0 FROM jobs WHERE id = :job
            """,
            [
                "job": job.text, "sources": JSON.array(batch.sources.map { .string($0) }), "folder": batch.folder,
                "settings": batch.settings.json,
            ])
    }

    func add(
        _ items: [NewItem], _ place: ReadingPlace, isRead: Bool, known rule: KnownItemRule, to batch: Int64
    ) throws(JournalFailure) -> AddedItems {
        var result = AddedItems()
        var next =
            try self.first(
                "SELECT coalesce(max(number), 0) AS last FROM items WHERE batch = :batch", ["batch": batch]
            ) { $0.int("last") + 1 } ?? 1
        let reading =
            try self.first("SELECT first FROM batches WHERE job = :batch", ["batch": batch]) { $0.int("first") } ?? 1
        var (pending, failed, paid) = (0, 0, 0)
        var named: [ItemRecord.State] = []
        for item in items {
            if let known = try known(item.key, reading, batch) {
                guard known.isOfThisReading else {
                    result.known += 1
                    if known.isAside, let state = known.state { named.append(state) }
                    if known.isMended(by: item), known.wasBegun { result.changed.append(item.key) }
                    let fate = try fate(of: known, item, rule, batch)
                    if case .isReplaced(let before) = fate {
                        if before.state.leavesPaidEnd(before.cost) { paid += 1 }
                        result.bad += try replace(before, item, next, reading, batch)
                        next += 1
                        continue
                    }
                    if case .isUnderWay = fate {
                        result.underWay.append(item)
                        continue
                    }
                    try run(
                        "UPDATE items SET reading = :reading WHERE batch = :batch AND number = :number",
                        ["reading": reading, "batch": batch, "number": known.number])
                    switch fate {
                    case .isLeft(let row): result.bad.append(row)
                    case .isRetried(let state):
                        let begins = try itemRows.beginAgain(known.number, state, batch)
                        if begins, state.leavesPaidEnd(known.cost) { paid += 1 }
                    case .isAsItWas: try itemRows.leaveAsItWas(known.number, batch)
                    case .stays, .isReplaced, .isUnderWay: break
                    }
                    continue
                }
                result.duplicates += 1
                try insert(item, "duplicate", next, reading, batch)
            } else if let bad = try enter(item, next, reading, batch) {
                (result.added, failed) = (result.added + 1, failed + 1)
                result.bad.append(bad)
            } else {
                (result.added, pending) = (result.added + 1, pending + 1)
            }
            next += 1
        }
        try itemRows.takeBack(named, batch)
        let latest = try self.batch(batch)
        let notes = ReadingNotes(aside: latest?.aside ?? [:], otherEnds: (latest?.otherEnds ?? 0) + paid)
        try run(
            """
            UPDATE batches SET place = :place, is_read = :is_read, pending = pending + :pending,
                failed = failed + :failed, duplicate = duplicate + :duplicate
            WHERE job = :batch
            """,
            [
                "batch": batch, "place": place.json(notes), "is_read": isRead, "pending": pending,
                "failed": failed,
                "duplicate": result.duplicates,
            ])
        return result
    }

    /// Takes a row in as an item that is to be begun; one that can't be is a failed item, and returned.
    private func enter(
        _ item: NewItem, _ number: Int, _ reading: Int, _ batch: Int64, attempt: Int = 0
    ) throws(JournalFailure) -> NewItem? {
        var item = item
        if item.failure == nil, let first = try claim(item.targets, of: number, batch) {
            item.failure = StepFailure(
                "it would write \(first.path), as the item '\(first.item)' does",
                hint: "let \"to\" differ, for example by ${{ job.item }}")
            item.failure?.place = item.place
        }
        guard item.failure == nil else {
            try insert(item, "failed", number, reading, batch)
            return item
        }
        try insert(item, "pending", number, reading, batch, attempt: attempt)
        return nil
    }

    /// Makes files an item's; nil, or the first that another item writes, and which. Those of items are free that failed or
    /// were cancelled and that no row of this reading names: of rows that were mended since, for instance.
    private func claim(
        _ targets: [String], of number: Int, _ batch: Int64
    ) throws(JournalFailure) -> (path: String, item: String)? {
        for path in targets {
            if let taken = try writer(of: path, besides: number, batch) { return (path, taken) }
        }
        for path in targets {
            try run(
                """
                INSERT INTO targets (batch, path, number) VALUES (:batch, :path, :number)
                ON CONFLICT (batch, path) DO UPDATE SET number = excluded.number
                    WHERE NOT EXISTS (SELECT 1 FROM items WHERE items.batch = targets.batch
                        AND items.number = targets.number
                        AND NOT (items.state IN ('failed', 'cancelled') AND coalesce(items.reading, 1) < 0))
                """,
                ["batch": batch, "path": path, "number": number])
        }
        return nil
    }

    /// Makes a file that of the item of a job; nil, or the key of another item whose it is.
    func claim(_ path: String, isFolder: Bool, forItemOf job: Int64) throws(JournalFailure) -> String? {
        let own = try first(
            """
            SELECT items.batch AS batch, items.number AS number FROM jobs
                JOIN items ON items.batch = jobs.batch AND items.key = jobs.item_key
            WHERE jobs.number = :job
            """, ["job": job]
        ) { row in (batch: row.integer("batch"), number: row.int("number")) }
        guard let (batch, number) = own else { return nil }
        if isFolder, let taken = try writer(inside: path, besides: number, batch) { return taken }
        if let taken = try claim([path], of: number, batch) { return taken.item }
        // Of two processes that ask at once the second finds the claim of the first only now.
        return try writer(of: path, besides: number, batch)
    }

    /// The key of another item that writes a file; nil for none.
    private func writer(
        of path: String, besides number: Int, _ batch: Int64
    ) throws(JournalFailure) -> String? {
        try first(
            """
            SELECT items.key AS key FROM targets JOIN items ON items.batch = targets.batch
                AND items.number = targets.number
            WHERE targets.batch = :batch AND path = :path AND targets.number <> :number
                AND NOT (items.state IN ('failed', 'cancelled') AND coalesce(items.reading, 1) < 0)
            """, ["batch": batch, "path": path, "number": number]
        ) { $0.optionalText("key") ?? "" }
    }

    /// The key of another item that writes a file in a folder; nil for none.
    private func writer(
        inside folder: String, besides number: Int, _ batch: Int64
    ) throws(JournalFailure) -> String? {
        // "0" is the character after "/".
        try first(
            """
            SELECT items.key AS key FROM targets JOIN items ON items.batch = targets.batch
                AND items.number = targets.number
            WHERE targets.batch = :batch AND path > :first AND path < :last AND targets.number <> :number
                AND NOT (items.state IN ('failed', 'cancelled') AND coalesce(items.reading, 1) < 0)
            ORDER BY path LIMIT 1
            """, ["batch": batch, "first": folder + "/", "last": folder + "0", "number": number]
        ) { $0.optionalText("key") ?? "" }
    }

    /// Makes an item that is not under way a new one of its key, as its row is now; returns it where it can't be begun. The
    /// files of the old one are free: nobody has its number any more.
    private func replace(
        _ before: ItemRecord, _ item: NewItem, _ number: Int, _ reading: Int, _ batch: Int64
    ) throws(JournalFailure) -> [NewItem] {
        try run(
            "DELETE FROM items WHERE batch = :batch AND number = :number", ["batch": batch, "number": before.number])
        // What it was begun before counts on: each end of a key has a number of its own.
        let attempt = before.state.isEnded && before.attempt > 0 ? before.attempt + 1 : before.attempt
        let bad = try enter(item, number, reading, batch, attempt: attempt)
        try itemRows.count([(-1, before.state), (1, bad == nil ? .pending : .failed)], batch)
        return bad.map { [$0] } ?? []
    }

    private func insert(
        _ item: NewItem, _ state: String, _ number: Int, _ reading: Int, _ batch: Int64, attempt: Int = 0
    ) throws(JournalFailure) {
        let isDuplicate = state == "duplicate"
        let failure = item.failure.map { ItemFailure(stage: nil, failure: $0) }
        let error = failure.map { $0.json(in: $0.group(of: item.key)) }
        try run(
            """
            INSERT INTO items (batch, number, key, duplicate_of, line, inputs, state, error, attempt, reading)
            VALUES (:batch, :number, :key, :duplicate_of, :line, :inputs, :state, :error, :attempt, :reading)
            """,
            [
                "batch": batch, "number": number, "key": isDuplicate ? nil : item.key,
                "duplicate_of": isDuplicate ? item.key : nil, "line": item.line,
                "inputs": JSON.object(item.inputs), "state": state, "error": error, "attempt": attempt,
                "reading": reading,
            ])
    }

    func reread(_ batch: Int64, _ record: BatchRecord, _ job: JobRecord) throws(JournalFailure) {
        let (bad, values): (Int, SQLValues) = (
            try change(
                "DELETE FROM items WHERE batch = :batch AND state = 'failed' AND attempt = 0", ["batch": batch]),
            [
                "batch": batch, "sources": JSON.array(record.sources.map { .string($0) }), "folder": record.folder,
                "settings": record.settings.json, "streak": record.streak.count,
                "streak_stage": record.streak.group?.stage, "streak_code": record.streak.group?.code,
            ]
        )
        try run("DELETE FROM items WHERE batch = :batch AND state = 'duplicate'", ["batch": batch])
        try itemRows.count([(-bad, .failed)], batch)
        // What comes from sources that are not read again is of this reading all the same.
        let place = record.place ?? ReadingPlace(source: 0)
        let aside = place.source == 0 ? try itemRows.setAside(batch) : record.aside
        let otherEnds = try self.batch(batch)?.otherEnds ?? 0
        try run(
            "UPDATE batches SET place = :place WHERE job = :batch",
            ["batch": batch, "place": place.json(ReadingNotes(aside: aside, otherEnds: otherEnds))])
        try run(
            """
            UPDATE batches SET sources = :sources, folder = :folder, settings = :settings, is_read = 0,
                stopped = NULL, duplicate = 0, streak = :streak, streak_stage = :streak_stage, streak_code = :streak_code,
                first = 1 + (SELECT CASE WHEN coalesce(max(number), 0) > batches.first THEN max(number)
                    ELSE batches.first END FROM items WHERE batch = :batch)
            WHERE job = :batch
            """, values)
        try jobs.documents.adopt(job, for: batch)
    }

    func retryItems(
        _ keys: [String]?, in states: Set<ItemRecord.State>, of batch: Int64
    ) throws(JournalFailure) -> Int {
        let keys = keys.map { Set($0) }
        var count = 0
        var (again, paid): ([ItemRecord.State], Int) = ([], 0)
        for state in states {
            let numbers = try all(
                "SELECT number, key, reading, cost FROM items WHERE batch = :batch AND state = :state",
                ["batch": batch, "state": state.rawValue]
            ) { row in
                let isPaid = state.leavesPaidEnd(row.isNull("cost") ? nil : row.double("cost"))
                return (number: row.int("number"), key: row.text("key"), isAside: row.isAside, isPaid: isPaid)
            }
            for (number, key, isAside, isPaid) in numbers where keys?.contains(key) ?? true {
                guard try itemRows.beginAgain(number, state, batch) else { continue }
                if isAside { again.append(state) }
                if isPaid { paid += 1 }
                count += 1
            }
        }
        try itemRows.takeBack(again, batch)
        try itemRows.countEnds(paid, batch)
        try stop(nil, batch)
        return count
    }

    /// Makes what was to begin again, and has not, what it was before.
    func withdrawRetries(of batch: Int64) throws(JournalFailure) {
        let numbers = try all(
            """
            SELECT number FROM items WHERE batch = :batch AND state = 'pending' AND state <> 'succeeded'
                AND state <> 'duplicate' AND job IS NOT NULL
            """, ["batch": batch]
        ) { $0.int("number") }
        for number in numbers { try itemRows.leaveAsItWas(number, batch) }
    }

    func configure(_ settings: BatchSettings, _ batch: Int64) throws(JournalFailure) {
        try run(
            "UPDATE batches SET settings = :settings WHERE job = :batch", ["batch": batch, "settings": settings.json])
    }

    func stop(_ cause: SuspensionCause?, _ batch: Int64) throws(JournalFailure) {
        guard let cause else {
            return try run(
                """
                UPDATE batches SET stopped = NULL, streak = 0, streak_stage = NULL, streak_code = NULL WHERE job = :batch
                """, ["batch": batch])
        }
        try run("UPDATE batches SET stopped = :cause WHERE job = :batch", ["batch": batch, "cause": cause.rawValue])
    }
}

extension JobRows {
    var batches: BatchRows<Connection> { BatchRows(jobs: self) }
}
