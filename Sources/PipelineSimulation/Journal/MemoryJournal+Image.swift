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
        var places: [ServiceID: Set<Place>] = [:]
        /// The ledger of resumes, in the order of its entries.
        package internal(set) var resumes: [ResumeRecord] = []
        /// The durations of steps, in the order of their ends.
        package internal(set) var samples: [StageSample] = []

        package init() {}

        /// The jobs' ids, oldest first.
        package var jobs: [JobID] { rows.keys.sorted() }
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
        for event in events { try row.apply(.event(event)) }
        rows[job.record.id] = row
        keep(ItemOutcome(.running), of: job.record, isFirst: true)
    }

    mutating func commit(_ changes: [JournalChange], under lease: Lease) throws(JournalFailure) {
        guard rows[lease.job] != nil else { throw .noSuchJob(lease.job) }
        guard isValid(lease), var row = rows.removeValue(forKey: lease.job) else { throw .stale }
        // The row is taken out while it changes: a copy of all its events for each commit would cost simulations most
        // of their time.
        let (snapshot, events) = (row.snapshot, row.events.count)
        do throws(JournalFailure) {
            for change in changes { try row.apply(change) }
            rows[lease.job] = row
            keepHistory(changes, of: row.snapshot.record)
        } catch {
            row.snapshot = snapshot
            row.events.removeLast(row.events.count - events)
            rows[lease.job] = row
            throw error
        }
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
        rows.values.filter { $0.owner == owner && ($0.snapshot.request != nil || $0.snapshot.hasPushes) }.map(
            \.snapshot.record.id
        ).sorted()
    }
}

extension MemoryJournal.Image.Row {
    mutating func apply(_ change: JournalChange) throws(JournalFailure) {
        switch change {
        case .step(let key, let step):
            let isNext = snapshot.steps[key].map { step.version == $0.version + 1 } ?? (step.version <= 1)
            guard isNext else { throw .conflict(key) }
        case .event(let event):
            guard let sequence = event.sequence else {
                throw .other("an event without a sequence number is not journaled")
            }
            guard sequence == snapshot.sequence + 1 else {
                throw .other("event \(sequence) is not the next one of its job")
            }
            events.append(event)
        case .notification(let record):
            if snapshot.notifications[record.id]?.state == .sent {
                throw .other("notification \(record.id) was sent already")
            }
        case .released(.crashed): throw .other("no owner lives to say that it crashed")
        default: break
        }
        if change.endsOwnership { owner = nil }
        snapshot.apply(change)
    }
}
