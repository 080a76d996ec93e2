import PipelineCore

/// The only writer of a process to a journal: a thread that takes what has queued and commits it as one transaction.
protocol GroupWriter: Sendable {
    associatedtype Connection: JournalConnection

    var mailbox: WriteMailbox<Connection> { get }
    /// Marked by the thread as the last thing.
    var end: ThreadEnd { get }
}

extension GroupWriter {
    /// Runs the body inside a transaction, shared with other calls, and returns once that is committed.
    ///
    /// The body may run several times, and must change nothing but rows. When it throws, nothing of it is kept, and other
    /// calls are not touched. `onCommit` runs on the writer's thread before any later call is written.
    func write<Value: Sendable>(
        onCommit: @escaping @Sendable (Value) -> Void = { _ in },
        _ body: @escaping @Sendable (JobRows<Connection>) throws(JournalFailure) -> Value
    ) async throws(JournalFailure) -> Value {
        try await mailbox.submit(onCommit: onCommit, body)
    }

    /// Writes what must be written at last: when it is refused that is thrown, and it is written with the next group that is.
    func writeForSure(
        onCommit: @escaping @Sendable () -> Void,
        _ body: @escaping @Sendable (JobRows<Connection>) throws(JournalFailure) -> Void
    ) async throws(JournalFailure) {
        try await mailbox.submitForSure(onCommit: onCommit, body)
    }

    /// Returns once the thread has ended.
    func ended() async { await end.wait() }

    /// Takes no more calls; the thread writes what is left and ends.
    func close() { mailbox.close() }
}
