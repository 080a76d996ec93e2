import PipelineCore
import PipelinePostgres
import PipelineSQL

/// A look at a database, inside the transaction of a reader: whether the journal's tables are whole, and may be written.
struct DatabaseCheck: JournalAccess {
    let connection: PostgresConnection

    /// The columns that the schema's tables should have and do not, one sentence each.
    func missingColumns() throws(JournalFailure) -> [String] {
        let there = try all(
            """
            SELECT pg_class.relname || '.' || pg_attribute.attname AS name FROM pg_attribute
            JOIN pg_class ON pg_class.oid = pg_attribute.attrelid
            JOIN pg_namespace ON pg_namespace.oid = pg_class.relnamespace
            WHERE pg_namespace.nspname = 'pipeline' AND pg_attribute.attnum > 0 AND NOT pg_attribute.attisdropped
            """
        ) { $0.text("name") }
        return PostgresSchema.columns.subtracting(there).sorted().map { "\($0) is missing" }
    }

    /// The reasons why a session of the address's user could not write, one sentence each. Functions of the PostgreSQL manual,
    /// sections 9.26 (`has_table_privilege`) and 9.27 (`pg_is_in_recovery`).
    func obstacles() throws(JournalFailure) -> [String] {
        let server = try first(
            """
            SELECT CASE WHEN pg_is_in_recovery() THEN 'the server is a standby'
                WHEN current_setting('default_transaction_read_only') = 'on' THEN 'sessions of the address are read-only'
                END AS reason
            """, [:]
        ) { $0.optionalText("reason") }
        let tables = try all(
            """
            SELECT pg_class.relname AS name FROM pg_class JOIN pg_namespace ON pg_namespace.oid = pg_class.relnamespace
            WHERE pg_namespace.nspname = 'pipeline' AND pg_class.relkind = 'r' AND pg_class.relname <> 'versions' AND NOT
                (has_table_privilege(pg_class.oid, 'SELECT') AND has_table_privilege(pg_class.oid, 'INSERT')
                AND has_table_privilege(pg_class.oid, 'UPDATE') AND has_table_privilege(pg_class.oid, 'DELETE'))
            ORDER BY 1
            """
        ) { $0.text("name") }
        let refusal = server.flatMap(\.self).map { "\($0): nothing can be written; \(JournalFailure.writableServer)" }
        let grant =
            tables.isEmpty
            ? nil : "the address's user may not write all of \(tables.joined(separator: ", ")): grant it, as the owner"
        return [refusal, grant].compactMap(\.self)
    }
}
