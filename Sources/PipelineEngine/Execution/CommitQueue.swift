import PipelineCore

/// Changes that wait for the commit under way: what comes meanwhile goes into the next one, in order.
struct CommitQueue {
    struct Batch {
        var changes: [JournalChange] = []
        var events: [JobEvent] = []
        /// What goes with the changes, and is never a reason to write.
        var measured = Measurements()
        var waiters: [CheckedContinuation<Turn, Never>] = []
        /// Whether it is to be on disk before anybody acts or waits.
        var isDue = false
    }

    /// What one who waits is told.
    enum Turn: Sendable {
        /// Its changes are on disk, or can't be.
        case committed(Result<Void, JournalFailure>)
        /// It writes the batch that its changes are in.
        case writes
    }

    var next = Batch()
    var isFlushing = false
    /// Those who wait for the commit under way alone.
    var watchers: [CheckedContinuation<Turn, Never>] = []
    /// Set by the first failure; everything after it fails alike.
    var failure: JournalFailure?

    mutating func takeNext() -> Batch {
        defer { next = Batch() }
        return next
    }

    /// Adds changes to the next commit; with `mayWait` nothing rests on them, and a crash before that commit costs
    /// nothing that cannot be found out again.
    mutating func enqueue(_ changes: [JournalChange], mayWait: Bool) throws(JournalFailure) {
        if let failure { throw failure }
        if !mayWait { next.isDue = true }
        for case .event(let event) in changes { next.events.append(event) }
        next.changes += changes
    }
}

extension JobExecutor {
    /// Commits what is due; who is there while a commit is under way shares the next one.
    func commitDue() async throws(JournalFailure) {
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
            try await ports.journal.commit(measured + batch.changes, under: lease)
            publisher.publish(batch.events)
            return .success(())
        } catch {
            queue.failure = error
            return .failure(error)
        }
    }
}
