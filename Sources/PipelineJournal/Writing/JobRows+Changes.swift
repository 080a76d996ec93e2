import JSONPath
import PipelineCore

extension JobRows {
    /// Keeps the changes of a job whose lease was checked in the same transaction.
    func apply(_ changes: [JournalChange], to job: Int64) throws(JournalFailure) {
        for change in changes { try apply(change, to: job) }
    }

    private func apply(_ change: JournalChange, to job: Int64) throws(JournalFailure) {
        switch change {
        case .step(let key, let step): try update(step, key, job)
        case .submit(let key, let submit): try keep(submit, key, job)
        case .fact(let fact, let value): try keep(fact, value, job)
        case .event(let event): try insert(event, job)
        case .file(let file): try keep(file, job)
        case .taken(let mode): try set(.takeMode, job, mode.rawValue)
        case .requested(let request): try set(.setRequest, job, request?.rawValue)
        case .released(let cause): try set(.setCause, job, cause?.rawValue)
        case .ended(let time):
            let update = try statement(.setEnded)
            update.bind(1, job)
            update.bind(2, time)
            try update.run()
        case .pushesTaken(let key): try run(.takePushes, key, job)
        case .pushesVoided(let key): try run(.voidPushes, key, job)
        case .resume(let record): try keep(record, job)
        case .sample(let sample): try keep(sample)
        case .notification(let record): try keep(record, job)
        case .reopened:
            let update = try statement(.reopen)
            update.bind(1, job)
            try update.run()
        }
    }

    private func run(_ name: JournalStatement, _ key: StepKey, _ job: Int64) throws(JournalFailure) {
        let update = try statement(name)
        bind(key, job, to: update)
        try update.run()
    }

    /// Replaces the row whose version is one less; a step that has no row yet gets one.
    private func update(_ step: StepRecord, _ key: StepKey, _ job: Int64) throws(JournalFailure) {
        let update = try statement(.updateStep)
        bind(step, key, job, to: update)
        if try update.run() == 1 { return }
        guard step.version <= 1 else { throw .conflict(key) }
        try insert(step, key, job)
    }

    func insert(_ step: StepRecord, _ key: StepKey, _ job: Int64) throws(JournalFailure) {
        let insertion = try statement(.insertStep)
        bind(step, key, job, to: insertion)
        guard try insertion.run() == 1 else { throw .conflict(key) }
    }

    private func bind(_ step: StepRecord, _ key: StepKey, _ job: Int64, to statement: SQLiteStatement) {
        bind(key, job, to: statement)
        statement.bind(4, step.state.name.rawValue)
        let detail = step.state.detail
        if detail.isNull { statement.bindNull(5) } else { statement.bind(5, json: detail) }
        statement.bind(6, blob: step.checkpoint)
        if step.captures.isEmpty { statement.bind(7, "{}") } else { statement.bind(7, json: .object(step.captures)) }
        statement.bind(8, step.started)
        statement.bind(9, step.ended)
        statement.bind(10, step.attempts)
        statement.bind(11, step.resumes)
        statement.bind(12, step.bytesSent)
        statement.bind(13, step.bytesReceived)
        statement.bind(14, step.toleratesFailure)
        if let value = step.value { statement.bind(15, json: value) } else { statement.bindNull(15) }
        statement.bind(16, step.version)
        statement.bind(17, step.expires)
    }

    func keep(_ submit: SubmitRecord, _ key: StepKey, _ job: Int64) throws(JournalFailure) {
        let statement = try statement(.keepSubmit)
        bind(key, job, to: statement)
        statement.bind(4, submit.key)
        statement.bind(5, submit.generation)
        statement.bind(6, submit.digest)
        statement.bind(7, submit.phase.rawValue)
        statement.bind(8, submit.sends)
        statement.bind(9, submit.firstSent)
        statement.bind(10, submit.lastSent)
        statement.bind(11, submit.misses)
        try statement.run()
    }

    func keep(_ fact: Fact, _ value: JSON, _ job: Int64) throws(JournalFailure) {
        let statement = try statement(.keepFact)
        statement.bind(1, job)
        statement.bind(2, fact.column.kind.rawValue)
        statement.bind(3, fact.column.subject)
        statement.bind(4, json: value)
        try statement.run()
    }

    func keep(_ file: WrittenFile, _ job: Int64) throws(JournalFailure) {
        let statement = try statement(.keepFile)
        statement.bind(1, job)
        statement.bind(2, file.path)
        statement.bind(3, file.bytes)
        statement.bind(4, file.sha256)
        statement.bind(5, file.step?.stage)
        statement.bind(6, file.step?.item)
        try statement.run()
    }

    /// Writes the row of a notification; one that was sent is not changed any more.
    func keep(_ record: NotificationRecord, _ job: Int64) throws(JournalFailure) {
        let statement = try statement(.keepNotification)
        statement.bind(1, job)
        statement.bind(2, record.id)
        statement.bind(3, record.entry)
        statement.bind(4, record.event.rawValue)
        statement.bind(5, record.state.rawValue)
        statement.bind(6, record.due)
        statement.bind(7, record.time)
        statement.bind(8, record.title)
        statement.bind(9, json: .object(record.data))
        statement.bind(10, record.failures)
        statement.bind(11, record.failingSince)
        statement.bind(12, record.problem)
        guard try statement.run() == 1 else { throw .other("notification \(record.id) was sent already") }
    }

    /// Appends an event; it must be the next one.
    func insert(_ event: JobEvent, _ job: Int64) throws(JournalFailure) {
        guard let sequence = event.sequence else { throw .other("an event without a sequence number is not journaled") }
        let statement = try statement(.insertEvent)
        statement.bind(1, job)
        statement.bind(2, sequence)
        statement.bind(3, event.time.milliseconds)
        statement.bind(4, event.kind.rawValue)
        statement.bind(5, event.step?.stage)
        statement.bind(6, event.step?.item)
        statement.bind(7, event.attempt)
        if event.data.isEmpty { statement.bind(8, "{}") } else { statement.bind(8, json: .object(event.data)) }
        guard try statement.run() == 1 else { throw .other("event \(sequence) is not the next one of its job") }
    }

    func bind(_ key: StepKey, _ job: Int64, to statement: SQLiteStatement) {
        statement.bind(1, job)
        statement.bind(2, key.stage)
        statement.bind(3, key.item ?? -1)
    }
}
