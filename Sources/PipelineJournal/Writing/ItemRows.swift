import JSONPath
import PipelineCore
import PipelineSQL

/// The rows of items inside the writer's transaction, and the counts of their batch, which move with them.
struct ItemRows<Connection: JournalConnection>: JournalAccess {
    let connection: Connection

    /// Has the item begin that a new job is for; `.stale` unless it is pending. What a job of before has cost is the batch's
    /// alone then.
    func beginItem(of job: JobRecord, _ number: Int64) throws(JournalFailure) {
        guard let own = job.item else { return }
        let batch = try first("SELECT batch FROM jobs WHERE number = :number", ["number": number]) {
            $0.integer("batch")
        }
        guard let batch, let before = try item(key: own.key, of: batch), before.state == .pending else { throw .stale }
        try run(
            """
            UPDATE items SET state = 'running', job = :job, attempt = CASE WHEN attempt < 1 THEN 1 ELSE attempt END,
                error = NULL, stage = NULL, status = NULL, cost = NULL
            WHERE batch = :batch AND number = :number
            """, ["batch": batch, "number": before.number, "job": job.id.text])
        var after = before
        after.state = .running
        try count(before, after, batch)
    }

    /// Keeps where the item of a job stands by now, and counts it.
    func keep(_ outcome: ItemOutcome, of job: Int64) throws(JournalFailure) {
        let found = try first(
            """
            SELECT items.* FROM jobs JOIN items ON items.batch = jobs.batch AND items.key = jobs.item_key
                AND items.job = jobs.id
            WHERE jobs.number = :job
            """, ["job": job]
        ) { (row) throws(JournalFailure) in
            (batch: row.integer("batch"), item: try ItemRecord(row))
        }
        guard let (batch, before) = found else { return }
        var after = before
        after.apply(outcome)
        if after == before { return }
        try write(after, over: before, batch)
        if before.isAside { try takeBack([before.state], batch) }
    }

    /// Makes an item pending again that ended in a state; false for a row that could not be begun, which stays as it is.
    func beginAgain(
        _ number: Int, _ before: ItemRecord.State, _ batch: Int64
    ) throws(JournalFailure) -> Bool {
        let changed = try change(
            """
            UPDATE items SET state = 'pending', attempt = attempt + 1, reading = abs(reading)
            WHERE batch = :batch AND number = :number AND attempt > 0
            """, ["batch": batch, "number": number])
        if changed == 0 { return false }
        try count([(-1, before), (1, .pending)], batch)
        return true
    }

    /// Makes an item that was to begin again, and has not, what it was before.
    func leaveAsItWas(_ number: Int, _ batch: Int64) throws(JournalFailure) {
        let before = try first(
            "SELECT error FROM items WHERE batch = :batch AND number = :number", ["batch": batch, "number": number]
        ) { $0.isNull("error") ? ItemRecord.State.cancelled : .failed }
        guard let before else { return }
        let changed = try change(
            """
            UPDATE items SET state = :state, attempt = attempt - 1
            WHERE batch = :batch AND number = :number AND state = 'pending' AND attempt > 1
            """, ["batch": batch, "number": number, "state": before.rawValue])
        if changed == 1 { try count([(-1, .pending), (1, before)], batch) }
    }

    func fail(
        _ number: Int, because failure: StepFailure, at time: Timestamp, of batch: Int64
    ) throws(JournalFailure) {
        guard let before = try item(number, of: batch), before.state == .pending else { throw .stale }
        var after = before
        after.state = .failed
        after.attempt = max(1, before.attempt)
        after.ended = time
        after.failure = ItemFailure(stage: nil, failure: failure)
        try write(after, over: before, batch)
    }

    /// Has a pending item end as cancelled; false for one that is not pending.
    func cancel(_ number: Int, at time: Timestamp, of batch: Int64) throws(JournalFailure) -> Bool {
        guard let before = try item(number, of: batch), before.state == .pending else { return false }
        var after = before
        (after.state, after.ended, after.attempt) = (.cancelled, time, max(1, before.attempt))
        let isAside = try first(
            "SELECT reading FROM items WHERE batch = :batch AND number = :number", ["batch": batch, "number": number]
        ) { $0.isAside }
        try write(after, over: before, batch)
        if isAside == true { try takeBack([.pending], batch) }
        return true
    }

    /// Writes an item that was one thing and is another by now, and counts it.
    private func write(_ item: ItemRecord, over before: ItemRecord, _ batch: Int64) throws(JournalFailure) {
        let error = item.failureGroup.flatMap { item.failure?.json(in: $0) }
        try run(
            """
            UPDATE items SET state = :state, attempt = :attempt, ended = :ended, seconds = :seconds, stage = :stage,
                status = :status, error = :error, results = :results, files = :files, cost = :cost,
                bytes_sent = :sent, bytes_received = :received, reading = abs(reading)
            WHERE batch = :batch AND number = :number
            """,
            [
                "batch": batch, "number": item.number, "state": item.state.rawValue, "attempt": item.attempt,
                "ended": item.ended, "seconds": item.seconds, "stage": item.failure?.stage,
                "status": item.failure?.failure.status, "error": error,
                "results": item.results.isEmpty ? nil : Optional(JSON.object(item.results)),
                "cost": item.cost, "sent": item.moved.sent, "received": item.moved.received,
                "files": item.files.isEmpty ? nil : Optional(JSON.array(item.files.map { .string($0) })),
            ])
        try count(before, item, batch)
    }

    /// Counts an item that was one thing and is another by now, without reading the batch: workers of several machines count
    /// in one row.
    private func count(_ before: ItemRecord, _ after: ItemRecord, _ batch: Int64) throws(JournalFailure) {
        try count([(-1, before.state), (1, after.state)], batch)
        try countEnds(after.otherEnds(since: before), batch)
        let sent = max(0, after.moved.sent - before.moved.sent)
        let received = max(0, after.moved.received - before.moved.received)
        // An amount is of whole billionths, and so is the sum in the row, which is rounded to them each time.
        let cost = (Amount(after.cost ?? 0) - Amount(before.cost ?? 0)).double
        if sent > 0 || received > 0 || after.cost != before.cost {
            try run(
                """
                UPDATE batches SET bytes_sent = bytes_sent + :sent, bytes_received = bytes_received + :received,
                    cost = coalesce(round((cost + :cost) * 1e9) / 1e9, cost, :cost)
                WHERE job = :batch
                """,
                [
                    "batch": batch, "sent": sent, "received": received,
                    "cost": after.cost == before.cost ? nil : Optional(cost),
                ])
        }
        guard after.cameToRest(since: before) else { return }
        if after.state == .succeeded {
            try run(
                """
                UPDATE batches SET streak = 0, streak_stage = NULL, streak_code = NULL
                WHERE job = :batch AND streak > 0 AND stopped IS NULL
                """, ["batch": batch])
        } else if let group = after.streakGroup, let stage = group.stage {
            try run(
                """
                UPDATE batches SET streak = CASE WHEN streak_stage = :stage AND streak_code = :code THEN streak + 1
                    ELSE 1 END, streak_stage = :stage, streak_code = :code
                WHERE job = :batch AND stopped IS NULL
                """, ["batch": batch, "stage": stage, "code": group.code])
        }
    }

    /// Leaves items aside that ended badly before a new reading; their number by state. Their `reading` is negative until a
    /// row names them or they begin again.
    func setAside(_ batch: Int64) throws(JournalFailure) -> [ItemRecord.State: Int] {
        var counts: [ItemRecord.State: Int] = [:]
        for state in [ItemRecord.State.failed, .cancelled, .pending] {
            counts[state] = try change(
                """
                UPDATE items SET reading = -abs(coalesce(reading, 1)) WHERE batch = :batch AND state = :state
                """, ["batch": batch, "state": state.rawValue])
        }
        return counts
    }

    /// Judges the batch by items again that stayed aside, given by the states that they had.
    func takeBack(_ states: [ItemRecord.State], _ batch: Int64) throws(JournalFailure) {
        if states.isEmpty { return }
        try edit(batch) { notes in for state in states { notes.aside[state, default: 0] -= 1 } }
    }

    /// Counts what items add to ``BatchRecord/otherEnds``.
    func countEnds(_ ends: Int, _ batch: Int64) throws(JournalFailure) {
        if ends != 0 { try edit(batch) { $0.otherEnds += ends } }
    }

    private func edit(_ batch: Int64, _ change: (inout ReadingNotes) -> Void) throws(JournalFailure) {
        let place = try first("SELECT place FROM batches WHERE job = :batch", ["batch": batch]) {
            (row) throws(JournalFailure) in row.isNull("place") ? nil : try row.object("place")
        }
        guard case let place?? = place, let reached = ReadingPlace(place) else { return }
        var notes = ReadingNotes(place)
        change(&notes)
        try run(
            "UPDATE batches SET place = :place WHERE job = :batch",
            ["batch": batch, "place": reached.json(notes)])
    }

    /// Changes how many items are in states. One statement for all: a column's name is no parameter.
    func count(
        _ changes: [(change: Int, state: ItemRecord.State)], _ batch: Int64
    ) throws(JournalFailure) {
        func change(of state: ItemRecord.State) -> Int {
            changes.reduce(0) { $0 + ($1.state == state ? $1.change : 0) }
        }
        try run(
            """
            UPDATE batches SET pending = pending + :pending, running = running + :running,
                suspended = suspended + :suspended, unknown = unknown + :unknown, succeeded = succeeded + :succeeded,
                failed = failed + :failed, cancelled = cancelled + :cancelled, duplicate = duplicate + :duplicate
            WHERE job = :batch
            """,
            [
                "batch": batch, "pending": change(of: .pending), "running": change(of: .running),
                "suspended": change(of: .suspended), "unknown": change(of: .unknown),
                "succeeded": change(of: .succeeded), "failed": change(of: .failed),
                "cancelled": change(of: .cancelled), "duplicate": change(of: .duplicate),
            ])
    }
}

extension SQLRow {
    /// True of an item that stays aside from its batch's reading.
    var isAside: Bool { (optionalInt("reading") ?? 1) < 0 }
}
