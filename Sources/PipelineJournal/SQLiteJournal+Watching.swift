package import PipelineCore

extension SQLiteJournal {
    /// Tells the processes that watch the event's job of it: of what the journal keeps that there is something to read,
    /// of the rest the event itself. May be lost; returns at once, and changes nothing in the database.
    package func show(_ event: JobEvent) { owners.show(event) }

    /// Asks the owner of a job to show what happens to it, or to any of its jobs, here for the next five seconds; false
    /// when it does not listen.
    package func watch(_ job: JobID?, of owner: OwnerID) -> Bool {
        owners.send(.watch(self.owner, job), to: owner)
    }

    /// Tells the owner of a job that a person watches it, or any of its jobs, on a terminal of this process for the next
    /// five seconds; false when it does not listen.
    package func attend(_ job: JobID?, of owner: OwnerID) -> Bool {
        owners.send(.attend(self.owner, job), to: owner)
    }

    /// Returns whether a person watches the job of this process on a terminal of another one.
    package func isWatched(_ job: JobID) -> Bool { owners.isWatched(job) }

    /// Returns who attends to jobs of this process, as it begins; ends when this journal can't listen.
    package func attentions() -> AsyncStream<OwnerSignal> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1024)) { continuation in
            do throws(JournalFailure) {
                try owners.enter(owner).listen(continuation)
            } catch {
                continuation.finish()
            }
        }
    }

    /// Returns what the owners that were asked show; ends when this journal can't listen.
    package func news() -> AsyncStream<JournalSignal> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1024)) { continuation in
            do throws(JournalFailure) {
                try owners.enter(owner).listen(continuation)
            } catch {
                continuation.finish()
            }
        }
    }
}
