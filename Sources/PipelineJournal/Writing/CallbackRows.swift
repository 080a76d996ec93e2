import JSONPath
import PipelineCore
import PipelineSQL

/// The rows of callbacks inside the writer's transaction: each stays, so that a repetition is known.
struct CallbackRows<Connection: JournalConnection>: JournalAccess {
    let connection: Connection

    /// Keeps a callback; false for a repetition of one that is there.
    func insert(_ callback: Callback, _ key: StepKey, _ job: Int64) throws(JournalFailure) -> Bool {
        let inserted = try change(
            """
            INSERT INTO pushes (job, stage, item, id, time, state, captures, response)
            VALUES (:job, :stage, :item, :id, :time, 'new', :captures, :response)
            ON CONFLICT DO NOTHING
            """,
            [
                "job": job, "stage": key.stage, "item": key.itemColumn, "id": callback.id, "time": callback.time,
                "captures": callback.captures.map { JSON.object($0).text }, "response": callback.response?.text,
            ])
        return inserted == 1
    }

    /// Notes that the step was woken for so many, the first of those that did not come early and are not judged yet. One that
    /// came since its owner looked wakes it once more.
    func take(_ count: Int, of key: StepKey, _ job: Int64) throws(JournalFailure) {
        try run(
            """
            UPDATE pushes SET state = 'taken'
            WHERE job = :job AND stage = :stage AND item = :item AND id IN (SELECT id FROM pushes
                WHERE job = :job AND stage = :stage AND item = :item AND state = 'new' AND response IS NULL
                ORDER BY time, id LIMIT :count)
            """, ["job": job, "stage": key.stage, "item": key.itemColumn, "count": count])
    }

    /// Makes one that came early one like any other, or one for nobody.
    func judge(_ key: StepKey, _ id: String, isMatch: Bool, _ job: Int64) throws(JournalFailure) {
        try run(
            """
            UPDATE pushes SET response = NULL, state = :state
            WHERE job = :job AND stage = :stage AND item = :item AND id = :id
            """,
            [
                "job": job, "stage": key.stage, "item": key.itemColumn, "id": id, "state": isMatch ? "new" : "void",
            ])
    }

    /// Notes that the step begins again: all were for what it was.
    func void(_ key: StepKey, _ job: Int64) throws(JournalFailure) {
        try run(
            """
            UPDATE pushes SET state = 'void', response = NULL WHERE job = :job AND stage = :stage AND item = :item
            """, ["job": job, "stage": key.stage, "item": key.itemColumn])
    }
}
