import PipelineCore

/// Writes what one job commits: changes gather, and all who need them on disk share a commit.
///
/// Confined to the actor of the job's executor. What is on disk is published after that; what was measured goes with it.
/// A commit that fails ends all writing, so that nothing is ever done from a state that is not on disk.
final class JobWriter {
    /// The lease that commits are made under: another one once the job has been let go and its last notifications are
    /// sent.
    var lease: Lease
    private let journal: any Journal
    private let publisher: EventPublisher
    private let notes: NoteBook
    private let plan: Plan
    private var meter: JobMeter
    private var queue = CommitQueue()

    init(_ state: JobState, lease: Lease, journal: any Journal, publisher: EventPublisher, notes: NoteBook) {
        self.lease = lease
        self.journal = journal
        self.publisher = publisher
        self.notes = notes
        plan = state.table.plan
        meter = JobMeter(state.table.snapshot)
    }

    /// Journals a new job with all that was added so far, in one transaction.
    func create(_ job: JobSnapshot) async throws(JournalFailure) {
        let batch = queue.takeNext()
        let events = batch.events
        var first = job
        first.sequence = 0
        lease = try await journal.create(first, events: events, owner: lease.owner)
        publisher.publish(events)
        queue.next.measured.add(batch.measured)
    }

    /// Adds changes to the next commit; with `mayWait` nothing rests on them, and a crash before that commit costs
    /// nothing that cannot be found out again.
    func add(_ changes: [JournalChange], mayWait: Bool) throws(JournalFailure) {
        try queue.enqueue(changes, mayWait: mayWait)
        queue.next.measured.add(meter.measurements(of: changes, in: plan))
        queue.next.measured.add(notes.takeMeasurements())
    }

    /// Forgets what was not committed: the job was read from the journal once more.
    func forget() { queue = CommitQueue() }

    /// Commits what is due; who is there while a commit is under way shares the next one.
    func commit() async throws(JournalFailure) {
        if !queue.next.isDue {
            if let failure = queue.failure { throw failure }
            guard queue.isFlushing else { return }
            // Somebody else took along what is due.
            let turn = await withCheckedContinuation { queue.watchers.append($0) }
            if case .committed(let result) = turn { try result.get() }
            return
        }
        if queue.isFlushing {
            let turn = await withCheckedContinuation { queue.next.waiters.append($0) }
            if case .committed(let result) = turn { return try result.get() }
        }
        try await flush()
    }

    /// Writes the next batch and hands the right to write on: who commits waits for one write under way and its own,
    /// however many others come after it.
    private func flush() async throws(JournalFailure) {
        queue.isFlushing = true
        let batch = queue.takeNext()
        let result = await write(batch)
        for waiter in batch.waiters + queue.watchers { waiter.resume(returning: .committed(result)) }
        queue.watchers = []
        if queue.next.waiters.isEmpty {
            queue.isFlushing = false
        } else {
            queue.next.waiters.removeFirst().resume(returning: .writes)
        }
        try result.get()
    }

    private func write(_ batch: CommitQueue.Batch) async -> Result<Void, JournalFailure> {
        if let failure = queue.failure { return .failure(failure) }
        do throws(JournalFailure) {
            let measured: [JournalChange] = batch.measured.isEmpty ? [] : [.measured(batch.measured)]
            try await journal.commit(measured + batch.changes, under: lease)
            publisher.publish(batch.events)
            return .success(())
        } catch {
            queue.failure = error
            return .failure(error)
        }
    }
}
