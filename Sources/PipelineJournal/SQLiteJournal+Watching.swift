public import PipelineCore

extension SQLiteJournal {
    /// Tells the processes that watch the event's job of it: of what the journal keeps that there is something to read,
    /// of the rest the event itself. May be lost; returns at once, and changes nothing in the database.
    public func show(_ event: JobEvent) { owners.show(event) }

    /// Asks the owner of a job to show what happens to it, or to any of its jobs, here for the next five seconds; false
    /// when it does not listen.
    public func watch(_ job: JobID?, of owner: OwnerID) -> Bool {
        owners.send(.watch(self.owner, job), to: owner)
    }

    /// What the owners that were asked show; ends when this journal can't listen.
    public func news() -> AsyncStream<JobNews> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1024)) { continuation in
            do throws(JournalFailure) {
                try owners.enter(owner).listen(continuation)
            } catch {
                continuation.finish()
            }
        }
    }
}
