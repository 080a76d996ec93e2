import JSONPath
import PipelineCore
import PipelineSQL

/// What belongs to a job, by the number of its row.
extension JobReader {
    func steps(_ job: Int64, isBrief: Bool = false) throws(JournalFailure) -> [StepKey: StepRecord] {
        let steps = try all(
            """
            SELECT stage, item, state, detail, tolerates_failure, value, checkpoint, captures, started, ended, attempts,
                resumes, bytes_sent, bytes_received, version, expires, cost
            FROM steps WHERE job = :job
            """, ["job": job]
        ) { (row) throws(JournalFailure) in
            let key = StepKey(row)
            return (key, try step(row, key, isBrief: isBrief))
        }
        return Dictionary(steps, uniquingKeysWith: { $1 })
    }

    private func step(_ row: Row, _ key: StepKey, isBrief: Bool) throws(JournalFailure) -> StepRecord {
        let name = row.text("state")
        let detail = try row.json("detail")
        guard let state = StepState.Name(rawValue: name).flatMap({ StepState(name: $0, detail: detail) }) else {
            throw row.damaged("the step \(key) is \(name), and what belongs to it is missing")
        }
        var step = StepRecord(state: state, toleratesFailure: row.flag("tolerates_failure"))
        if !isBrief {
            // Not in one expression: a nil literal next to a JSON value is JSON's null.
            if !row.isNull("value") { step.value = try row.json("value") }
            step.checkpoint = row.optionalBlob("checkpoint")
            step.captures = try row.object("captures")
        }
        step.started = row.optionalTime("started")
        step.ended = row.optionalTime("ended")
        step.attempts = row.int("attempts")
        step.resumes = row.int("resumes")
        step.bytesSent = row.integer("bytes_sent")
        step.bytesReceived = row.integer("bytes_received")
        step.version = row.int("version")
        step.expires = row.optionalTime("expires")
        step.cost = row.isNull("cost") ? nil : row.double("cost")
        return step
    }

    func submits(_ job: Int64) throws(JournalFailure) -> [StepKey: SubmitRecord] {
        let submits = try all(
            """
            SELECT stage, item, key, generation, digest, phase, sends, first_sent, last_sent, misses
            FROM submits WHERE job = :job
            """, ["job": job]
        ) { (row) throws(JournalFailure) in
            let step = StepKey(row)
            guard let phase = SubmitRecord.Phase(rawValue: row.text("phase")) else {
                throw row.damaged("the submit of \(step) has no phase")
            }
            var submit = SubmitRecord(
                key: row.text("key"), generation: row.int("generation"), digest: row.text("digest"), phase: phase)
            submit.sends = row.int("sends")
            submit.firstSent = row.optionalTime("first_sent")
            submit.lastSent = row.optionalTime("last_sent")
            submit.misses = row.int("misses")
            return (step, submit)
        }
        return Dictionary(submits, uniquingKeysWith: { $1 })
    }

    func facts(_ job: Int64) throws(JournalFailure) -> [Fact: JSON] {
        let facts = try all("SELECT kind, subject, value FROM facts WHERE job = :job", ["job": job]) {
            (row) throws(JournalFailure) in
            guard let fact = Fact(kind: row.text("kind"), subject: row.text("subject")) else {
                throw row.damaged("a fact is of an unknown kind")
            }
            return (fact, try row.json("value"))
        }
        return Dictionary(facts, uniquingKeysWith: { $1 })
    }

    func files(_ job: Int64) throws(JournalFailure) -> [WrittenFile] {
        try all("SELECT path, bytes, sha256, stage, item FROM files WHERE job = :job ORDER BY number", ["job": job]) {
            row in
            // The column of 0.1.0 takes no NULL: a text without a digit stands for a digest that was not made.
            let digest = row.text("sha256")
            return WrittenFile(
                path: row.text("path"), bytes: row.integer("bytes"), sha256: digest.isEmpty ? nil : digest,
                step: StepKey(optional: row))
        }
    }

    func pushes(_ job: Int64) throws(JournalFailure) -> [StepKey: CallbackCount] {
        try CallbackReader(connection: connection).counts(job)
    }

    func notifications(_ job: Int64) throws(JournalFailure) -> [String: NotificationRecord] {
        let records = try all(
            """
            SELECT id, entry, event, state, due, time, title, data, failures, failing_since, problem
            FROM notifications WHERE job = :job
            """, ["job": job]
        ) { (row) throws(JournalFailure) in
            guard let event = NotifyDefinition.Event(rawValue: row.text("event")),
                let state = NotificationRecord.State(rawValue: row.text("state"))
            else { throw row.damaged("a notification is of an unknown kind") }
            return NotificationRecord(
                id: row.text("id"), entry: row.int("entry"), event: event, state: state, due: row.time("due"),
                time: row.time("time"), title: row.text("title"), data: try row.object("data"),
                failures: row.int("failures"), failingSince: row.optionalTime("failing_since"),
                problem: row.optionalText("problem"))
        }
        return Dictionary(records.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
    }

    func sequence(_ job: Int64) throws(JournalFailure) -> Int {
        try first("SELECT coalesce(max(sequence), 0) AS last FROM events WHERE job = :job", ["job": job]) {
            $0.int("last")
        } ?? 0
    }
}
