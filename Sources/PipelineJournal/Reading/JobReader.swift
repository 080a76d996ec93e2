import JSONPath
import PipelineCore
import PipelineSQL

/// Reads jobs inside one transaction of the reading connection: all that it gives belongs to one moment.
package struct JobReader<Connection: JournalConnection>: JournalAccess {
    let connection: Connection
    let owners: Connection.OwnerRows
    /// Documents that were read already: jobs which started from the same text share its storage.
    private(set) var documents: [Int64: String] = [:]

    init(connection: Connection, owners: Connection.OwnerRows) {
        self.connection = connection
        self.owners = owners
    }

    /// The whole job; nil when there is none of that id.
    mutating func snapshot(_ job: JobID) throws(JournalFailure) -> JobSnapshot? {
        guard let (number, head) = try head(job) else { return nil }
        var snapshot = head
        snapshot.steps = try steps(number)
        snapshot.submits = try submits(number)
        snapshot.facts = try facts(number)
        snapshot.files = try files(number)
        snapshot.sequence = try sequence(number)
        snapshot.pushes = try pushes(number)
        snapshot.notifications = try notifications(number)
        return snapshot
    }

    /// Returns what others asked of the job: two rows where ``snapshot(_:)`` reads them all.
    func inbox(_ job: JobID) throws(JournalFailure) -> JobInbox? {
        let found = try first("SELECT number, request FROM jobs WHERE id = :job", ["job": job.text]) { row in
            (row.integer("number"), row.optionalText("request").flatMap { JobRequest(rawValue: $0) })
        }
        guard let (number, request) = found else { return nil }
        return JobInbox(request: request, pushes: try pushes(number))
    }

    /// Returns what a list shows of the job.
    mutating func brief(_ job: JobID) throws(JournalFailure) -> JobSnapshot? {
        guard let (number, head) = try head(job, isBrief: true) else { return nil }
        var snapshot = head
        snapshot.steps = try steps(number, isBrief: true)
        snapshot.files = try files(number)
        return snapshot
    }

    /// The journaled events after a sequence number.
    func events(_ job: JobID, after sequence: Int) throws(JournalFailure) -> [JobEvent] {
        try all(
            """
            SELECT sequence, time, kind, jobs.pipeline, stage, item, attempt, data
            FROM jobs JOIN events ON events.job = jobs.number
            WHERE jobs.id = :job AND sequence > :after ORDER BY sequence
            """, ["job": job.text, "after": sequence]
        ) { (row) throws(JournalFailure) in
            let name = row.text("kind")
            guard let kind = JobEvent.Kind(rawValue: name) else {
                throw row.damaged("\(job) has an event of the unknown type \(name)")
            }
            return JobEvent(
                sequence: row.int("sequence"), time: row.time("time"), kind: kind, job: job,
                pipeline: row.text("pipeline"), step: StepKey(optional: row), attempt: row.optionalInt("attempt"),
                data: try row.object("data"))
        }
    }

    /// The ids of all jobs, oldest first.
    func allJobs() throws(JournalFailure) -> [JobID] {
        try all("SELECT id FROM jobs ORDER BY id") { JobID($0.text("id")) }
    }

    /// The owner's jobs that have a request.
    func requests(for owner: OwnerID) throws(JournalFailure) -> [JobID] {
        try all(
            """
            SELECT id FROM jobs WHERE owner = :owner AND (request IS NOT NULL
                OR EXISTS (SELECT 1 FROM pushes WHERE job = jobs.number AND state = 'new'))
            ORDER BY id
            """, ["owner": owner.text]
        ) { JobID($0.text("id")) }
    }

    private mutating func head(
        _ job: JobID, isBrief: Bool = false
    ) throws(JournalFailure) -> (Int64, JobSnapshot)? {
        var documents = documents
        let found = try first(
            """
            SELECT jobs.number, key, pipeline, started, documents.digest, document, documents.source, source_name,
                inputs, environment, document_folder, output_folder, overwrites, found_secrets, mode, request,
                CASE WHEN cause = 'paused' THEN coalesce(stopped, cause) ELSE coalesce(later_cause, cause) END AS cause,
                jobs.owner AS owner, ended, item_key,
                (SELECT id FROM jobs AS others WHERE others.number = jobs.batch) AS batch
            FROM jobs LEFT JOIN batches ON batches.job = jobs.number JOIN documents ON documents.number = jobs.document WHERE id = :job
            """, ["job": job.text]
        ) { (row) throws(JournalFailure) in
            guard let mode = JobMode(rawValue: row.text("mode")) else { throw row.damaged("\(job) has no mode") }
            let document = row.integer("document")
            let source = documents[document] ?? row.text("source")
            documents[document] = source
            let secrets = isBrief ? .null : try row.json("found_secrets")
            var record = JobRecord(
                id: job, pipeline: row.text("pipeline"), key: row.text("key"), started: row.time("started"),
                source: source, sourceName: row.text("source_name"), digest: row.text("digest"),
                inputs: isBrief ? [:] : try row.object("inputs"),
                environment: isBrief ? [:] : try row.object("environment"),
                folders: JobFolders(document: row.text("document_folder"), output: row.text("output_folder")),
                overwrites: row.flag("overwrites"), beginning: JobBeginning(column: secrets))
            if let batch = row.optionalText("batch"), let item = row.optionalText("item_key") {
                record.item = BatchItem(batch: JobID(batch), key: item)
            }
            var snapshot = JobSnapshot(record: record, steps: [:], mode: mode)
            snapshot.request = row.optionalText("request").flatMap { JobRequest(rawValue: $0) }
            snapshot.cause = row.optionalText("cause").flatMap { SuspensionCause(rawValue: $0) }
            if row.isNull("owner"), snapshot.release == nil { snapshot.release = JobSnapshot.Release(cause: nil) }
            snapshot.ended = row.optionalTime("ended")
            return (row.integer("number"), snapshot)
        }
        self.documents = documents
        guard let (number, head) = found else { return nil }
        var snapshot = head
        snapshot.batch = try batch(number)
        return (number, snapshot)
    }
}
