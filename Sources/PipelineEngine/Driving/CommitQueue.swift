import PipelineCore

/// Changes that wait for the commit under way: what comes meanwhile goes into the next one, in order.
struct CommitQueue {
    struct Batch {
        var changes: [JournalChange] = []
        var events: [JobEvent] = []
        var waiters: [CheckedContinuation<Turn, Never>] = []
        /// Whether it is to be kept before anybody waits.
        var isDue = false
    }

    /// What one who waits is told.
    enum Turn: Sendable {
        /// Its changes are kept, or can't be.
        case kept(Result<Void, JournalFailure>)
        /// It writes the batch that its changes are in.
        case writes
    }

    var next = Batch()
    var isFlushing = false
    /// Set by the first failure; everything after it fails alike.
    var failure: JournalFailure?

    mutating func takeNext() -> Batch {
        defer { next = Batch() }
        return next
    }
}

extension JobExecutor {
    /// Commits changes and then hands their events to the outlet. Changes of one call are kept together, calls in their
    /// order.
    ///
    /// The snapshot sees them at once, so that a later event of the same step builds on them; nobody acts before this
    /// returns, and after a failure nobody acts at all.
    func commit(_ changes: [JournalChange]) async throws(JournalFailure) {
        try stage(changes)
        if lane.isFlushing {
            let turn = await withCheckedContinuation { lane.next.waiters.append($0) }
            if case .kept(let result) = turn { return try result.get() }
        }
        try await flush()
    }

    /// Adds changes to the next commit, which the caller sees to before anybody acts on them or waits: what follows from
    /// them at once, such as the next stage's start, is kept in the same transaction.
    ///
    /// With `mayWait` nothing rests on them: they are kept with whatever comes next, and a crash before that costs
    /// nothing that cannot be found out again.
    func stage(_ changes: [JournalChange], mayWait: Bool = false) throws(JournalFailure) {
        if let failure = lane.failure { throw failure }
        if !mayWait { lane.next.isDue = true }
        let changes = told(changes)
        for change in changes {
            snapshot.apply(change)
            if case .event(let event) = change { lane.next.events.append(event) }
        }
        lane.next.changes += changes
    }

    /// Commits what was staged, is due and not yet kept.
    func keepStaged() async throws(JournalFailure) {
        if lane.next.isDue { try await commit([]) }
    }

    /// Writes the next batch and hands the lane on: who commits waits for one write under way and its own, however
    /// many others come after it.
    private func flush() async throws(JournalFailure) {
        lane.isFlushing = true
        let batch = lane.takeNext()
        let result = await write(batch)
        for waiter in batch.waiters { waiter.resume(returning: .kept(result)) }
        if lane.next.waiters.isEmpty {
            lane.isFlushing = false
        } else {
            lane.next.waiters.removeFirst().resume(returning: .writes)
        }
        try result.get()
    }

    private func write(_ batch: CommitQueue.Batch) async -> Result<Void, JournalFailure> {
        if let failure = lane.failure { return .failure(failure) }
        do throws(JournalFailure) {
            try await ports.journal.commit(batch.changes, under: writing)
            outlet.take(batch.events)
            return .success(())
        } catch {
            lane.failure = error
            return .failure(error)
        }
    }
}
