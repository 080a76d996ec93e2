import JSONPath
import PipelineCore

/// The rows of jobs inside the writer's transaction.
struct JobRows {
    let connection: SQLiteConnection
    let owners: Owners

    func statement(_ name: JournalStatement) throws(JournalFailure) -> SQLiteStatement {
        try connection.statement(name)
    }

    /// Keeps a whole new job that the owner has.
    func insert(_ job: JobSnapshot, _ events: [JobEvent], for owner: OwnerID) throws(JournalFailure) -> Lease {
        if let other = try self.job(withKey: job.record.key) { throw .keyTaken(other) }
        try keep(owner)
        let number = try insertJob(job, owner: owner)
        for (key, step) in job.steps { try insert(step, key, number) }
        for (key, submit) in job.submits { try keep(submit, key, number) }
        for (fact, value) in job.facts { try keep(fact, value, number) }
        for file in job.files { try keep(file, number) }
        for record in job.notifications.values { try keep(record, number) }
        for event in events { try insert(event, number) }
        return Lease(job: job.record.id, owner: owner, epoch: 1)
    }

    /// Forgets a job that has ended, with all that belongs to it.
    func remove(_ job: JobID) throws(JournalFailure) {
        guard let found = try findOwner(of: job) else { throw .noSuchJob(job) }
        guard found.hasEnded else {
            if let owner = found.livingOwner { throw .owned(by: owner) }
            throw .other("\(job) has not ended")
        }
        let removal = try statement(.removeJob)
        removal.bind(1, job.text)
        guard try removal.step() else { throw .noSuchJob(job) }
        let document = removal.integer(0)
        removal.reset()
        let unused = try statement(.removeUnusedDocument)
        unused.bind(1, document)
        try unused.run()
    }

    /// Leaves a request in the job's row; gives the owner that is to be woken.
    func post(_ request: JobRequest, to job: JobID) throws(JournalFailure) -> OwnerID? {
        guard let found = try findOwner(of: job) else { throw .noSuchJob(job) }
        try set(.setRequest, found.number, request.rawValue)
        return found.livingOwner
    }

    /// Keeps a push; whether it is new, and the owner that is to be woken.
    func post(_ push: Callback, to step: StepKey, of job: JobID) throws(JournalFailure) -> (
        isNew: Bool, owner: OwnerID?
    ) {
        guard let found = try findOwner(of: job) else { throw .noSuchJob(job) }
        let insertion = try statement(.insertPush)
        bind(step, found.number, to: insertion)
        insertion.bind(4, push.id)
        insertion.bind(5, push.time)
        return (try insertion.run() == 1, found.livingOwner)
    }

    private func job(withKey key: String) throws(JournalFailure) -> JobID? {
        let query = try statement(.findKey)
        query.bind(1, key)
        defer { query.reset() }
        return try query.step() ? JobID(query.text(0)) : nil
    }

    private func insertJob(_ job: JobSnapshot, owner: OwnerID) throws(JournalFailure) -> Int64 {
        let document = try self.document(job.record)
        let insertion = try statement(.insertJob)
        let record = job.record
        insertion.bind(1, record.id.text)
        insertion.bind(2, record.key)
        insertion.bind(3, record.pipeline)
        insertion.bind(4, record.started)
        insertion.bind(5, document)
        insertion.bind(6, record.sourceName)
        insertion.bind(7, json: .object(record.inputs))
        insertion.bind(8, json: .object(record.environment))
        insertion.bind(9, record.folders.document)
        insertion.bind(10, record.folders.output)
        insertion.bind(11, record.overwrites)
        insertion.bind(12, job.mode.rawValue)
        insertion.bind(13, job.request?.rawValue)
        insertion.bind(14, job.cause?.rawValue)
        insertion.bind(15, job.ended)
        insertion.bind(16, owner.text)
        insertion.bind(17, json: .array(record.foundSecrets.map { .string($0) }))
        return try returned(insertion)
    }

    /// The row of the job's document: jobs that started from the same text share it.
    private func document(_ record: JobRecord) throws(JournalFailure) -> Int64 {
        let query = try statement(.findDocument)
        query.bind(1, record.digest)
        query.bind(2, record.source)
        defer { query.reset() }
        if try query.step() { return query.integer(0) }
        let insertion = try statement(.insertDocument)
        insertion.bind(1, record.digest)
        insertion.bind(2, record.source)
        return try returned(insertion)
    }

    private func returned(_ insertion: SQLiteStatement) throws(JournalFailure) -> Int64 {
        defer { insertion.reset() }
        guard try insertion.step() else { throw .other("an insertion gave no row") }
        return insertion.integer(0)
    }

    func set(_ name: JournalStatement, _ job: Int64, _ text: String?) throws(JournalFailure) {
        let update = try statement(name)
        update.bind(1, job)
        update.bind(2, text)
        try update.run()
    }
}
