import JSONPath
import PipelineCore
import PipelineSQL

/// Reads the callbacks that came for a job's steps, inside the transaction of its reader.
struct CallbackReader<Connection: JournalConnection>: JournalAccess {
    let connection: Connection

    /// Returns how many of each step came and woke it, with the values of the last that brought any, and those that
    /// came early.
    func counts(_ job: Int64) throws(JournalFailure) -> [StepKey: CallbackCount] {
        let found = try all(
            """
            SELECT stage, item, count(*) FILTER (WHERE state = 'new' AND response IS NULL) AS waiting,
                count(*) FILTER (WHERE state = 'taken') AS taken, count(response) AS early
            FROM pushes WHERE job = :job AND state <> 'void' GROUP BY stage, item
            """, ["job": job]
        ) { row in
            let count = CallbackCount(waiting: row.int("waiting"), taken: row.int("taken"))
            return (key: StepKey(row), count: count, early: row.int("early"))
        }
        var counts = Dictionary(found.map { ($0.key, $0.count) }, uniquingKeysWith: { $1 })
        guard !counts.isEmpty else { return counts }
        let values = try all(
            """
            SELECT stage, item, captures FROM pushes
            WHERE job = :job AND state <> 'void' AND captures IS NOT NULL AND response IS NULL ORDER BY time
            """, ["job": job]
        ) { row in (StepKey(row), row.text("captures")) }
        for (key, text) in values { counts[key]?.captures = JSON.kept(text)?.object }
        guard found.contains(where: { $0.early > 0 }) else { return counts }
        for (key, callback) in try early(job) { counts[key]?.early.append(callback) }
        return counts
    }

    private func early(_ job: Int64) throws(JournalFailure) -> [(StepKey, Callback)] {
        try all(
            """
            SELECT stage, item, id, time, captures, response FROM pushes
            WHERE job = :job AND state = 'new' AND response IS NOT NULL ORDER BY time, id
            """, ["job": job]
        ) { row in
            let captures = row.optionalText("captures").flatMap(JSON.kept)?.object
            let response = JSON.kept(row.text("response")) ?? .null
            let callback = Callback(
                id: row.text("id"), time: row.time("time"), captures: captures, response: response)
            return (StepKey(row), callback)
        }
    }
}
