import PipelineCore

/// Changes that wait for the commit under way: what comes meanwhile goes into the next one, in order.
struct CommitLane {
    struct Batch {
        var changes: [JournalChange] = []
        var events: [JobEvent] = []
        var waiters: [CheckedContinuation<Result<Void, JournalFailure>, Never>] = []
    }

    var next = Batch()
    var isFlushing = false
    /// Set by the first failure; everything after it fails alike.
    var failure: JournalFailure?

    mutating func takeNext() -> Batch? {
        guard !next.changes.isEmpty || !next.waiters.isEmpty else { return nil }
        defer { next = Batch() }
        return next
    }
}

extension JobDriver {
    /// Commits changes and then publishes their events. Changes of one call are kept together, calls in their order.
    ///
    /// The snapshot sees them at once, so that a later event of the same step builds on them; nobody acts before this
    /// returns, and after a failure nobody acts at all.
    func commit(_ changes: [JournalChange]) async throws(JournalFailure) {
        if let failure = lane.failure { throw failure }
        for change in changes {
            snapshot.apply(change)
            if case .event(let event) = change { lane.next.events.append(event) }
        }
        lane.next.changes += changes
        if lane.isFlushing {
            return try await withCheckedContinuation { lane.next.waiters.append($0) }.get()
        }
        try await flush()
    }

    private func flush() async throws(JournalFailure) {
        lane.isFlushing = true
        defer { lane.isFlushing = false }
        var own: Result<Void, JournalFailure>?
        while let batch = lane.takeNext() {
            let result = await write(batch)
            if own == nil { own = result }
            for waiter in batch.waiters { waiter.resume(returning: result) }
        }
        try own?.get()
    }

    private func write(_ batch: CommitLane.Batch) async -> Result<Void, JournalFailure> {
        if let failure = lane.failure { return .failure(failure) }
        do throws(JournalFailure) {
            try await ports.journal.commit(batch.changes, under: lease)
            for event in batch.events { ports.observe(event) }
            return .success(())
        } catch {
            lane.failure = error
            return .failure(error)
        }
    }
}
