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
        let there = try await reader.read { (reader) throws(JournalFailure) in try reader.columns() }
        let missing = PostgresSchema.columns.subtracting(there).sorted().map { "\($0) is missing" }
        guard missing.isEmpty else { return missing }
        let unwritable = try await reader.read { (reader) throws(JournalFailure) in try reader.obstacles() }
        return try await unwritable + wrongRows()
    }

    /// Nothing: the name is nobody else's.
    package func claimName() async throws(JournalFailure) {}

    package func giveBackMemory() {}

    /// Refuses: a database is backed up by its own tools.
    package func backup(to path: String) async throws(JournalFailure) {
        throw .other("a journal in PostgreSQL is backed up with the server's tools, as 'pg_dump --schema=pipeline'")
    }
}

extension JobReader<PostgresConnection> {
    /// The columns that the schema's tables have, as `table.column`.
    fileprivate func columns() throws(JournalFailure) -> Set<String> {
        var columns: Set<String> = []
        try connection.readRows(
            of: """
                SELECT pg_class.relname || '.' || pg_attribute.attname AS name FROM pg_attribute
                JOIN pg_class ON pg_class.oid = pg_attribute.attrelid
                JOIN pg_namespace ON pg_namespace.oid = pg_class.relnamespace
                WHERE pg_namespace.nspname = 'pipeline' AND pg_attribute.attnum > 0 AND NOT pg_attribute.attisdropped
                """, [:]
        ) { row in
            columns.insert(row.text("name"))
            return true
        }
        return columns
    }

    /// The reasons why a session of the address's user could not write, one sentence each. Functions of the PostgreSQL manual,
    /// sections 9.26 (`has_table_privilege`) and 9.27 (`pg_is_in_recovery`).
    fileprivate func obstacles() throws(JournalFailure) -> [String] {
        var found: [String] = []
        var tables: [String] = []
        try connection.readRows(
            of: """
                SELECT CASE WHEN pg_is_in_recovery() THEN 1 ELSE 0 END AS standby,
                    CASE WHEN current_setting('default_transaction_read_only') = 'on' THEN 1 ELSE 0 END AS read_only
                """, [:]
        ) { row in
            let advice = "; name the primary server, or add target_session_attrs=read-write to the address"
            if row.flag("standby") { found.append("the server is a standby: nothing can be written" + advice) }
            if row.flag("read_only") {
                found.append("sessions of the address are read-only: nothing can be written" + advice)
            }
            return false
        }
        try connection.readRows(
            of: """
                SELECT pg_class.relname AS name FROM pg_class JOIN pg_namespace ON pg_namespace.oid = pg_class.relnamespace
                WHERE pg_namespace.nspname = 'pipeline' AND pg_class.relkind = 'r' AND pg_class.relname <> 'versions' AND NOT
                    (has_table_privilege(pg_class.oid, 'SELECT') AND has_table_privilege(pg_class.oid, 'INSERT')
                    AND has_table_privilege(pg_class.oid, 'UPDATE') AND has_table_privilege(pg_class.oid, 'DELETE'))
                ORDER BY 1
                """, [:]
        ) { row in
            tables.append(row.text("name"))
            return true
        }
        if !tables.isEmpty {
            found.append(
                "the address's user may not write all of \(tables.joined(separator: ", ")): grant it, as the owner")
        }
        return found
    }
}
