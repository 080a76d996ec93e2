import PipelineCore

/// One call that waits to be written, with the way back to its caller.
struct QueuedWrite<Connection: JournalConnection>: Sendable {
    /// Writes the call's rows inside the group's transaction, and gives what tells the caller once that is committed.
    /// It may be called again when the group has to be written one by one.
    let perform: @Sendable (JobRows<Connection>) throws(JournalFailure) -> @Sendable () -> Void
    /// Tells the caller that nothing was kept.
    let refuse: @Sendable (JournalFailure) -> Void
}
