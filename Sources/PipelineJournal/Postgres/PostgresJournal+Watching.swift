package import PipelineCore
import PipelinePostgres
import PipelineSQL

extension PostgresJournal {
    /// Tells the processes that watch the event's job of it; may be lost, and returns at once.
    package func show(_ event: JobEvent) { hub.show(event) }

    /// Asks the owner of a job to show what happens to it, or to any of its jobs, here for the next five seconds; false
    /// when it can't be told.
    package func watch(_ job: JobID?, of owner: OwnerID) -> Bool { hub.send(.watch(self.owner, job), to: owner) }

    /// Tells the owner of a job that a person watches it, or any of its jobs, on a terminal of this process for the next
    /// five seconds; false when it can't be told.
    package func attend(_ job: JobID?, of owner: OwnerID) -> Bool { hub.send(.attend(self.owner, job), to: owner) }

    /// Returns whether a person watches the job of this process on a terminal of another one.
    package func isWatched(_ job: JobID) -> Bool { hub.isWatched(job) }

    /// Returns who attends to jobs of this process, as it begins.
    package func attentions() -> AsyncStream<OwnerSignal> { hub.attentions() }

    /// Returns what the owners that were asked show.
    package func news() -> AsyncStream<JournalSignal> { hub.news() }

    /// Returns what is wrong with the journal, one sentence each; empty when nothing is. Reads every job.
    package func checkIntegrity() async throws(JournalFailure) -> [String] {
        let check = try await reader.read { (reader) throws(JournalFailure) in
            let check = DatabaseCheck(connection: reader.connection)
            let missing = try check.missingColumns()
            return (missing: missing, obstacles: missing.isEmpty ? try check.obstacles() : [])
        }
        return try await check.missing.isEmpty ? check.obstacles + wrongRows() : check.missing
    }

    /// Nothing: the name is nobody else's.
    package func claimName() async throws(JournalFailure) {}

    package func giveBackMemory() {}

    /// Refuses: a database is backed up by its own tools.
    package func backup(to path: String) async throws(JournalFailure) {
        throw .other("a journal in PostgreSQL is backed up with the server's tools, as 'pg_dump --schema=pipeline'")
    }
}
