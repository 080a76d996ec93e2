import JSONPath
import PipelineCore
import PipelineSQL

/// The rows of jobs inside the writer's transaction.
package struct JobRows<Connection: JournalConnection>: JournalAccess {
    let connection: Connection
    let owners: Connection.OwnerRows
    var known = KnownMetrics()
    /// What calls measure, until their transaction writes it.
    var gathered = GatheredMeasurements()

    var callbacks: CallbackRows<Connection> { CallbackRows(connection: connection) }
    var itemRows: ItemRows<Connection> { ItemRows(connection: connection) }

    /// Writes a whole new job that the owner has.
    func insert(_ job: JobSnapshot, _ events: [JobEvent], for owner: OwnerID) throws(JournalFailure) -> Lease {
        try keep(owner)
        guard let number = try insertJob(job, owner: owner) else {
            let other = try first("SELECT id FROM jobs WHERE key = :key", ["key": job.record.key]) { $0.text("id") }
            throw other.map { .keyTaken(JobID($0)) } ?? .other("the job that had the key was just removed: try again")
        }
        try itemRows.beginItem(of: job.record, number)
        for (key, step) in job.steps { try insertOrUpdate(step, key, number) }
        for (key, submit) in job.submits { try keep(submit, key, number) }
        for (fact, value) in job.facts { try keep(fact, value, number) }
        for file in job.files { try keep(file, number) }
        for record in job.notifications.values { try keep(record, number) }
        try insert(events, number)
        try owners.complete(job.record, number, on: connection)
        return Lease(job: job.record.id, owner: owner, epoch: 1)
    }

    /// Removes a job that has ended, with all that belongs to it; gives the jobs that went: itself, and of a batch those
    /// of its items.
    func remove(_ job: JobID) throws(JournalFailure) -> [JobID] {
        guard let found = try findOwner(of: job) else { throw .noSuchJob(job) }
        guard found.hasEnded else {
            if let owner = found.livingOwner { throw .owned(by: owner) }
            throw .other("\(job) has not ended")
        }
        let ofItems = try all("SELECT id FROM jobs WHERE batch = :batch", ["batch": found.number]) { row in
            JobID(row.text("id"))
        }
        // Its item begins another job when it is told to.
        try run(
            """
            UPDATE items SET job = NULL
            WHERE job = :job AND batch = (SELECT batch FROM jobs WHERE id = :job)
                AND key = (SELECT item_key FROM jobs WHERE id = :job)
            """, ["job": job.text])
        let document = try returnedNumber(
            "DELETE FROM jobs WHERE id = :job RETURNING document AS number", ["job": job.text])
        try run(
            """
            DELETE FROM documents
            WHERE number = :document AND NOT EXISTS (SELECT 1 FROM jobs WHERE document = :document)
            """, ["document": document])
        return [job] + ofItems
    }

    /// Leaves a request in the job's row, by the law of ``JobSnapshot``; gives the owner that is to be woken.
    func post(_ request: JobRequest, to job: JobID) throws(JournalFailure) -> OwnerID? {
        guard let found = try findOwner(of: job) else { throw .noSuchJob(job) }
        switch request {
        case .cancel: try setRequest(request, found.number)
        case .pause:
            try run(
                """
                UPDATE jobs SET request = :request
                WHERE number = :job AND (cause IS NULL OR cause <> 'paused') AND (request IS NULL OR request <> 'cancel')
                """, ["request": request.rawValue, "job": found.number])
        }
        return found.livingOwner
    }

    /// Keeps a callback; whether it is new, and the owner that is to be woken.
    func post(_ push: Callback, to step: StepKey, of job: JobID) throws(JournalFailure) -> (
        isNew: Bool, owner: OwnerID?
    ) {
        guard let found = try findOwner(of: job) else { throw .noSuchJob(job) }
        return (try callbacks.insert(push, step, found.number), found.livingOwner)
    }

    /// The number of the new row; nil when another job has the key.
    private func insertJob(_ job: JobSnapshot, owner: OwnerID) throws(JournalFailure) -> Int64? {
        let record = job.record
        return try first(
            """
            INSERT INTO jobs (id, key, pipeline, started, document, source_name, inputs, environment, document_folder,
                output_folder, overwrites, mode, request, cause, later_cause, ended, owner, epoch, found_secrets, batch,
                item_key)
            VALUES (:id, :key, :pipeline, :started, :document, :source_name, :inputs, :environment, :document_folder,
                :output_folder, :overwrites, :mode, :request, :cause, :later_cause, :ended, :owner, 1, :found_secrets,
                (SELECT number FROM jobs WHERE id = CAST(:batch AS TEXT)), :item_key)
            ON CONFLICT (key) DO NOTHING RETURNING number
            """,
            [
                "id": record.id.text, "key": record.key, "pipeline": record.pipeline, "started": record.started,
                "document": try documents.number(of: record), "source_name": record.sourceName,
                "inputs": JSON.object(record.inputs), "environment": JSON.object(record.environment),
                "document_folder": record.folders.document, "output_folder": record.folders.output,
                "overwrites": record.overwrites, "mode": job.mode.rawValue, "request": job.request?.rawValue,
                "cause": job.cause?.column, "later_cause": job.cause?.laterColumn, "ended": job.ended,
                "owner": owner.text,
                "found_secrets": record.beginning.column,
                "batch": record.item?.batch.text, "item_key": record.item?.key,
            ]
        ) { $0.integer("number") }
    }
}
