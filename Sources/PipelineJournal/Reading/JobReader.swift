import JSONPath
import PipelineCore

/// Reads jobs inside one transaction of the reading connection: all that it gives belongs to one moment.
struct JobReader {
    let connection: SQLiteConnection
    let owners: Owners
    /// Documents that were read already: jobs which started from the same text share its storage.
    private(set) var documents: [Int64: String] = [:]

    init(connection: SQLiteConnection, owners: Owners) {
        self.connection = connection
        self.owners = owners
    }

    func statement(_ name: JournalStatement) throws(JournalFailure) -> SQLiteStatement {
        try connection.statement(name)
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

    /// What others asked of the job: two rows where ``snapshot(_:)`` reads them all.
    func inbox(_ job: JobID) throws(JournalFailure) -> JobInbox? {
        let query = try statement(.readRequest)
        query.bind(1, job.text)
        defer { query.reset() }
        guard try query.step() else { return nil }
        let request = query.optionalText(1).flatMap { JobRequest(rawValue: $0) }
        return JobInbox(request: request, pushes: try pushes(query.integer(0)))
    }

    /// What a list shows of the job.
    mutating func brief(_ job: JobID) throws(JournalFailure) -> JobSnapshot? {
        guard let (number, head) = try head(job, isBrief: true) else { return nil }
        var snapshot = head
        snapshot.steps = try steps(number, isBrief: true)
        snapshot.files = try files(number)
        return snapshot
    }

    /// The journaled events after a sequence number.
    func events(_ job: JobID, after sequence: Int) throws(JournalFailure) -> [JobEvent] {
        let query = try statement(.readEvents)
        query.bind(1, job.text)
        query.bind(2, sequence)
        defer { query.reset() }
        var events: [JobEvent] = []
        while try query.step() {
            let name = query.text(2)
            guard let kind = JobEvent.Kind(rawValue: name) else {
                throw connection.damaged("\(job) has an event of the unknown type \(name)")
            }
            let step = query.optionalText(3).map { StepKey(stage: $0, item: query.optionalInt(4)) }
            events.append(
                JobEvent(
                    sequence: query.int(0), time: Timestamp(milliseconds: query.integer(1)), kind: kind, job: job,
                    pipeline: query.text(7), step: step, attempt: query.optionalInt(5), data: try query.object(6)))
        }
        return events
    }

    /// The ids of all jobs, oldest first.
    func allJobs() throws(JournalFailure) -> [JobID] {
        let query = try statement(.listJobs)
        var jobs: [JobID] = []
        while try query.step() { jobs.append(JobID(query.text(0))) }
        return jobs
    }

    /// The owner's jobs that have a request.
    func requests(for owner: OwnerID) throws(JournalFailure) -> [JobID] {
        let query = try statement(.listRequests)
        query.bind(1, owner.text)
        var jobs: [JobID] = []
        while try query.step() { jobs.append(JobID(query.text(0))) }
        return jobs
    }

    /// The unfinished jobs that a background owner takes up by itself: those with something that expires after `now`
    /// first, in the order of these times, then the oldest.
    func background(at now: Timestamp) throws(JournalFailure) -> [JobID] { try ownerless(.listBackground, at: now) }

    /// Jobs of which somebody is still to be told and that nobody owns, oldest first.
    func untold() throws(JournalFailure) -> [JobID] { try ownerless(.listUntold) }

    private func ownerless(
        _ name: JournalStatement, at now: Timestamp? = nil
    ) throws(JournalFailure) -> [JobID] {
        let query = try statement(name)
        if let now { query.bind(1, now) }
        var jobs: [JobID] = []
        var living: [OwnerID: Bool] = [:]
        while try query.step() {
            if let owner = query.optionalText(1).map({ OwnerID($0) }) {
                let isLiving =
                    living[owner] ?? owners.isLiving(owner, boot: query.text(2), until: query.integer(3))
                living[owner] = isLiving
                if isLiving { continue }
            }
            jobs.append(JobID(query.text(0)))
        }
        return jobs
    }

    private mutating func head(
        _ job: JobID, isBrief: Bool = false
    ) throws(JournalFailure) -> (Int64, JobSnapshot)? {
        let query = try statement(.readJob)
        query.bind(1, job.text)
        defer { query.reset() }
        guard try query.step() else { return nil }
        guard let mode = JobMode(rawValue: query.text(13)) else { throw connection.damaged("\(job) has no mode") }
        let document = query.integer(6)
        let source = documents[document] ?? query.text(17)
        documents[document] = source
        let record = JobRecord(
            id: job, pipeline: query.text(3), key: query.text(2), started: Timestamp(milliseconds: query.integer(4)),
            source: source, sourceName: query.text(7), digest: query.text(5),
            inputs: isBrief ? [:] : try query.object(8),
            environment: isBrief ? [:] : try query.object(9),
            folders: JobFolders(document: query.text(10), output: query.text(11)), overwrites: query.int(12) != 0,
            foundSecrets: isBrief || query.isNull(18) ? [] : (try query.json(18).array ?? []).compactMap(\.string))
        var snapshot = JobSnapshot(record: record, steps: [:], mode: mode)
        snapshot.request = query.optionalText(14).flatMap { JobRequest(rawValue: $0) }
        snapshot.cause = query.optionalText(15).flatMap { SuspensionCause(rawValue: $0) }
        snapshot.ended = query.time(16)
        return (query.integer(0), snapshot)
    }
}
