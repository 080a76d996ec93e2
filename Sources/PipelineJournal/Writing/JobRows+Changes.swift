import JSONPath
import PipelineCore
import PipelineSQL

extension JobRows {
    /// Writes the changes of a job whose lease was checked in the same transaction.
    func apply(_ changes: [JournalChange], to job: Int64) throws(JournalFailure) {
        var hasEvents = false
        for change in changes {
            try apply(change, to: job)
            if case .event = change { hasEvents = true }
        }
        if hasEvents { try connection.numberChange(of: job) }
    }

    private func apply(_ change: JournalChange, to job: Int64) throws(JournalFailure) {
        switch change {
        case .step(let key, let step): try update(step, key, job)
        case .submit(let key, let submit): try keep(submit, key, job)
        case .fact(let fact, let value): try keep(fact, value, job)
        case .event(let event): try insert(event, job)
        case .file(let file): try keep(file, job)
        case .taken(let mode):
            try run(
                "UPDATE jobs SET mode = :mode, cause = NULL, later_cause = NULL WHERE number = :job",
                ["mode": mode.rawValue, "job": job])
        case .requested(let request): try setRequest(request, job)
        case .answered(let request):
            try run(
                "UPDATE jobs SET request = NULL WHERE number = :job AND request = :request",
                ["request": request.rawValue, "job": job])
        case .released(.crashed): throw .mistake("no owner lives to say that it crashed")
        case .released(let cause):
            gathered.noteEnd()
            try run(
                "UPDATE jobs SET cause = :cause, later_cause = :later_cause, owner = NULL WHERE number = :job",
                ["cause": cause?.column, "later_cause": cause?.laterColumn, "job": job])
        case .ended(let time):
            gathered.noteEnd()
            try run("UPDATE jobs SET ended = :ended, owner = NULL WHERE number = :job", ["ended": time, "job": job])
        case .callbacksTaken(let key, let count): try callbacks.take(count, of: key, job)
        case .callbackJudged(let key, let id, let isMatch): try callbacks.judge(key, id, isMatch: isMatch, job)
        case .callbacksVoided(let key): try callbacks.void(key, job)
        case .resume(let record): try keep(record, job)
        case .sample(let sample): try keep(sample)
        case .notification(let record): try keep(record, job)
        case .measured(let measured): gathered.add(measured)
        case .item(let outcome): try itemRows.keep(outcome, of: job)
        case .reopened:
            try run(
                "UPDATE jobs SET ended = NULL, cause = NULL, later_cause = NULL, request = NULL WHERE number = :job",
                ["job": job])
        }
    }

    func setRequest(_ request: JobRequest?, _ job: Int64) throws(JournalFailure) {
        try run("UPDATE jobs SET request = :request WHERE number = :job", ["request": request?.rawValue, "job": job])
    }

    /// Replaces the row whose version is one less; a step that has no row yet gets one.
    private func update(_ step: StepRecord, _ key: StepKey, _ job: Int64) throws(JournalFailure) {
        guard step.version > 1 else { return try insertOrUpdate(step, key, job) }
        try changeOne(
            """
            UPDATE steps SET state = :state, detail = :detail, checkpoint = :checkpoint, captures = :captures,
                started = :started, ended = :ended, attempts = :attempts, resumes = :resumes, bytes_sent = :bytes_sent,
                bytes_received = :bytes_received, tolerates_failure = :tolerates_failure, value = :value,
                version = :version, expires = :expires, cost = :cost
            WHERE job = :job AND stage = :stage AND item = :item AND version = :version - 1
            """, Self.values(step, key, job), else: .conflict(key))
    }

    func insertOrUpdate(_ step: StepRecord, _ key: StepKey, _ job: Int64) throws(JournalFailure) {
        try changeOne(
            """
            INSERT INTO steps (state, detail, checkpoint, captures, started, ended, attempts, resumes, bytes_sent,
                bytes_received, tolerates_failure, value, version, expires, cost, job, stage, item)
            VALUES (:state, :detail, :checkpoint, :captures, :started, :ended, :attempts, :resumes, :bytes_sent,
                :bytes_received, :tolerates_failure, :value, :version, :expires, :cost, :job, :stage, :item)
            ON CONFLICT (job, stage, item) DO UPDATE SET state = excluded.state, detail = excluded.detail,
                checkpoint = excluded.checkpoint, captures = excluded.captures, started = excluded.started,
                ended = excluded.ended, attempts = excluded.attempts, resumes = excluded.resumes,
                bytes_sent = excluded.bytes_sent, bytes_received = excluded.bytes_received,
                tolerates_failure = excluded.tolerates_failure, value = excluded.value, version = excluded.version,
                expires = excluded.expires, cost = excluded.cost
            WHERE steps.version = excluded.version - 1
            """, Self.values(step, key, job), else: .conflict(key))
    }

    /// In the order of the statements, where they are found fastest.
    private static func values(_ step: StepRecord, _ key: StepKey, _ job: Int64) -> SQLValues {
        let detail = step.state.detail
        return [
            "state": step.state.name.rawValue, "detail": detail.isNull ? nil : Optional(detail),
            "checkpoint": step.checkpoint, "captures": JSON.object(step.captures), "started": step.started,
            "ended": step.ended, "attempts": step.attempts, "resumes": step.resumes, "bytes_sent": step.bytesSent,
            "bytes_received": step.bytesReceived, "tolerates_failure": step.toleratesFailure, "value": step.value,
            "version": step.version, "expires": step.expires, "cost": step.cost, "job": job, "stage": key.stage,
            "item": key.itemColumn,
        ]
    }

    func keep(_ submit: SubmitRecord, _ key: StepKey, _ job: Int64) throws(JournalFailure) {
        try run(
            """
            INSERT INTO submits (job, stage, item, key, generation, digest, phase, sends, first_sent,
                last_sent, misses)
            VALUES (:job, :stage, :item, :key, :generation, :digest, :phase, :sends, :first_sent, :last_sent, :misses)
            ON CONFLICT (job, stage, item) DO UPDATE SET key = excluded.key, generation = excluded.generation,
                digest = excluded.digest, phase = excluded.phase, sends = excluded.sends,
                first_sent = excluded.first_sent, last_sent = excluded.last_sent, misses = excluded.misses
            """,
            [
                "job": job, "stage": key.stage, "item": key.itemColumn, "key": submit.key,
                "generation": submit.generation, "digest": submit.digest, "phase": submit.phase.rawValue,
                "sends": submit.sends, "first_sent": submit.firstSent, "last_sent": submit.lastSent,
                "misses": submit.misses,
            ])
    }

    func keep(_ fact: Fact, _ value: JSON, _ job: Int64) throws(JournalFailure) {
        let (kind, subject) = fact.column
        try run(
            """
            INSERT INTO facts (job, kind, subject, value) VALUES (:job, :kind, :subject, :value)
            ON CONFLICT (job, kind, subject) DO UPDATE SET value = excluded.value
            """,
            ["job": job, "kind": kind.rawValue, "subject": subject, "value": value])
    }

    /// A file that was written again comes last.
    func keep(_ file: WrittenFile, _ job: Int64) throws(JournalFailure) {
        try run("DELETE FROM files WHERE job = :job AND path = :path", ["job": job, "path": file.path])
        try run(
            """
            INSERT INTO files (job, path, bytes, sha256, stage, item)
            VALUES (:job, :path, :bytes, :sha256, :stage, :item)
            """,
            [
                "job": job, "path": file.path, "bytes": file.bytes, "sha256": file.sha256 ?? "",
                "stage": file.step?.stage,
                "item": file.step?.item,
            ])
    }

    /// Writes the row of a notification; one that was sent is not changed any more.
    func keep(_ record: NotificationRecord, _ job: Int64) throws(JournalFailure) {
        try changeOne(
            """
            INSERT INTO notifications (job, id, entry, event, state, due, time, title, data, failures, failing_since,
                problem)
            VALUES (:job, :id, :entry, :event, :state, :due, :time, :title, :data, :failures, :failing_since, :problem)
            ON CONFLICT (job, id) DO UPDATE SET state = excluded.state, due = excluded.due, time = excluded.time,
                title = excluded.title, data = excluded.data, failures = excluded.failures,
                failing_since = excluded.failing_since, problem = excluded.problem
            WHERE notifications.state <> 'sent'
            """,
            [
                "job": job, "id": record.id, "entry": record.entry, "event": record.event.rawValue,
                "state": record.state.rawValue, "due": record.due, "time": record.time, "title": record.title,
                "data": JSON.object(record.data), "failures": record.failures, "failing_since": record.failingSince,
                "problem": record.problem,
            ], else: .mistake("notification \(record.id) was sent already"))
    }

    /// Appends events, which must be the next ones.
    func insert(_ events: [JobEvent], _ job: Int64) throws(JournalFailure) {
        for event in events { try insert(event, job) }
        if !events.isEmpty { try connection.numberChange(of: job) }
    }

    private func insert(_ event: JobEvent, _ job: Int64) throws(JournalFailure) {
        guard let sequence = event.sequence else {
            throw .mistake("an event without a sequence number is not journaled")
        }
        try changeOne(
            """
            INSERT INTO events (job, sequence, time, kind, stage, item, attempt, data)
            SELECT :job, :sequence, :time, :kind, CAST(:stage AS TEXT), CAST(:item AS BIGINT),
                CAST(:attempt AS BIGINT), :data
            WHERE :sequence = 1 + (SELECT coalesce(max(sequence), 0) FROM events WHERE job = :job)
            """,
            [
                "job": job, "sequence": sequence, "time": event.time, "kind": event.kind.rawValue,
                "stage": event.step?.stage, "item": event.step?.item, "attempt": event.attempt,
                "data": JSON.object(event.data),
            ], else: .mistake("event \(sequence) is not the next one of its job"))
    }
}

extension SuspensionCause {
    private var isLater: Bool {
        switch self {
        case .interrupted, .paused, .noNetwork, .crashed, .secret: false
        case .extension, .tooManyFailures, .sameFailure, .spent: true
        }
    }

    /// The value of the column `cause`, which holds those that version 0.1.0 knew.
    var column: String? { isLater ? nil : rawValue }
    /// The value of the column `later_cause`.
    var laterColumn: String? { isLater ? rawValue : nil }
}
