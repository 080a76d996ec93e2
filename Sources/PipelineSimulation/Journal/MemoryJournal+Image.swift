package import PipelineCore

extension MemoryJournal {
    /// The content that a journal has committed, as a value: a copy of it is what a crash at that moment leaves.
    package struct Image: Sendable {
        struct Row: Sendable {
            var snapshot: JobSnapshot
            var events: [JobEvent]
            var pushIDs: [StepKey: Set<String>] = [:]
            var owner: OwnerID?
            var epoch: Int
        }

        var rows: [JobID: Row] = [:]
        var batches: [JobID: Batch] = [:]
        var services: [ServiceID: ClosedService] = [:]
        var places = MemoryPlaces()
        /// The ledger of resumes, in the order of its entries.
        package internal(set) var resumes: [ResumeRecord] = []
        /// The durations of steps, in the order of their ends.
        package internal(set) var samples: [StageSample] = []

        package init() {}

        /// The job as it was committed last.
        package func snapshot(of job: JobID) -> JobSnapshot? { rows[job]?.snapshot }
        /// All journaled events of the job, in order.
        package func events(of job: JobID) -> [JobEvent] { rows[job]?.events ?? [] }
    }
}

/// The rules that every journal keeps.
extension MemoryJournal.Image {
    mutating func insert(_ job: JobSnapshot, _ events: [JobEvent], _ owner: OwnerID) throws(JournalFailure) {
        if let other = rows.values.first(where: { $0.snapshot.record.key == job.record.key }) {
            throw .keyTaken(other.snapshot.record.id)
        }
        guard rows[job.record.id] == nil else { throw .other("there is a job \(job.record.id)") }
        guard mayBegin(job.record) else { throw .stale }
        var row = Row(snapshot: job, events: [], owner: owner, epoch: 1)
        row.snapshot.sequence = 0
        try row.commit(events.map(JournalChange.event))
        rows[job.record.id] = row
        keep(ItemOutcome(.running), of: job.record, isFirst: true)
    }

    mutating func commit(_ changes: [JournalChange], under lease: Lease) throws(JournalFailure) {
        guard rows[lease.job] != nil else { throw .noSuchJob(lease.job) }
        guard isValid(lease), var row = rows.removeValue(forKey: lease.job) else { throw .stale }
        // The row is taken out while it changes: a copy of all its events for each commit would cost simulations most
        // of their time.
        defer { rows[lease.job] = row }
        let sending = row.snapshot.submits.filter { $0.value.phase == .sending }.keys
        try row.commit(changes)
        for key in sending where row.snapshot.submits[key].map({ [.intent, .refused].contains($0.phase) }) == true {
            places.free(MemoryPlaces.Place(job: lease.job, step: key))
        }
        keepHistory(changes, of: row.snapshot.record)
    }

    private mutating func keepHistory(_ changes: [JournalChange], of job: JobRecord) {
        for change in changes {
            switch change {
            case .resume(let record): resumes.append(record)
            case .sample(let sample): samples.append(sample)
            case .item(let outcome): keep(outcome, of: job)
            default: break
            }
        }
    }

    func isValid(_ lease: Lease) -> Bool {
        guard let row = rows[lease.job] else { return false }
        return row.owner == lease.owner && row.epoch == lease.epoch
    }

    mutating func releaseAll(of owner: OwnerID) {
        for (job, row) in rows where row.owner == owner { rows[job]?.owner = nil }
    }

    func requested(from owner: OwnerID) -> [JobID] {
        rows.values.filter { $0.owner == owner && $0.snapshot.hasRequests }.map(
            \.snapshot.id
        ).sorted()
    }
}

extension MemoryJournal.Image.Row {
    mutating func commit(_ changes: [JournalChange]) throws(JournalFailure) {
        try snapshot.commit(changes)
        for case .event(let event) in changes { events.append(event) }
        if changes.contains(where: \.endsOwnership) { owner = nil }
    }
}
