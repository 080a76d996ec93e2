import PipelineCore

/// Changes that wait for the commit under way: what comes meanwhile goes into the next one, in order.
struct CommitQueue {
    struct Batch {
        var changes: [JournalChange] = []
        /// The measurements that go with the changes, and is never a reason to write.
        var measured = Measurements()
        var waiters: [CheckedContinuation<Turn, Never>] = []
        /// True if it is to be on disk before anybody acts or waits.
        var isDue = false

        var events: [JobEvent] {
            changes.compactMap { if case .event(let event) = $0 { event } else { nil } }
        }
    }

    /// The message to one who waits.
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
        next.changes += changes
    }
}
