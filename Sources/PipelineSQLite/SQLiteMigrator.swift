/// The history of a schema: an append-only list of named steps. The database's `user_version` says how many of them it has
/// seen (sqlite.org/pragma.html#pragma_user_version).
///
/// Version 0.1.0 wrote the names of the steps into a table `grdb_migrations` and left `user_version` at zero. Such a
/// database is known by that table, and goes on with the first step whose name is not in it.
package struct SQLiteMigrator: Sendable {
    /// One step: it is never changed once it was released.
    package struct Step: Sendable {
        let name: String
        let sql: String

        package init(_ name: String, _ sql: String) {
            self.name = name
            self.sql = sql
        }
    }

    /// The relation of a database to the steps that this program knows.
    package enum Standing: Sendable {
        case current
        /// It is empty, or steps are missing.
        case outdated
        /// A later program made it.
        case newer
        /// It belongs to another program.
        case foreign
    }

    /// Tells our databases from those of other programs (sqlite.org/pragma.html#pragma_application_id).
    let applicationID: Int32
    let steps: [Step]

    package init(applicationID: Int32, steps: [Step]) {
        self.applicationID = applicationID
        self.steps = steps
    }

    /// Looks at the database and changes nothing.
    package func standing(of connection: SQLiteConnection) throws(SQLiteError) -> Standing {
        // In one transaction: another process may be making the schema at this moment.
        try connection.transaction(.reading) { () throws(SQLiteError) in
            guard try isOurs(connection) else { return .foreign }
            let done = try stepsDone(connection)
            return done > steps.count ? .newer : done == steps.count ? .current : .outdated
        }
    }

    /// Does the steps that are missing, each in a transaction of its own: after a crash the next one goes on.
    ///
    /// References are not enforced while a step runs, so that it may replace a table which others refer to; they are
    /// checked before its commit.
    package func migrate(_ connection: SQLiteConnection) throws(SQLiteError) {
        // Does nothing inside a transaction (sqlite.org/pragma.html#pragma_foreign_keys).
        try connection.execute("PRAGMA foreign_keys = OFF")
        defer { try? connection.execute("PRAGMA foreign_keys = ON") }
        while try migrateOnce(connection) {}
    }

    /// Does the next step; false when there is none.
    private func migrateOnce(_ connection: SQLiteConnection) throws(SQLiteError) -> Bool {
        try connection.transaction(.writing) { () throws(SQLiteError) in
            let done = try stepsDone(connection)
            guard done < steps.count else { return false }
            let step = steps[done]
            do throws(SQLiteError) {
                if done == 0 { try connection.execute("PRAGMA application_id = \(applicationID)") }
                try connection.execute(step.sql)
                try connection.execute("PRAGMA user_version = \(done + 1)")
            } catch {
                throw SQLiteError(
                    code: error.code, system: error.system,
                    message: "\(error.message), in the step '\(step.name)' of the schema", file: error.file)
            }
            guard try connection.texts("PRAGMA foreign_key_check").isEmpty else {
                throw SQLiteError(
                    code: Self.constraint,
                    message: "the step '\(step.name)' of the schema leaves rows without a parent",
                    file: connection.path)
            }
            return true
        }
    }

    /// SQLITE_CONSTRAINT_FOREIGNKEY.
    private static let constraint: Int32 = 787

    private func stepsDone(_ connection: SQLiteConnection) throws(SQLiteError) -> Int {
        let version = try number("PRAGMA user_version", connection)
        if version > 0 { return version }
        guard try number("SELECT count(*) FROM sqlite_master WHERE name = 'grdb_migrations'", connection) > 0 else {
            return 0
        }
        let names = try connection.texts("SELECT identifier FROM grdb_migrations")
        let done = steps.prefix { names.contains($0.name) }.count
        return names.count > done ? .max : done
    }

    private func isOurs(_ connection: SQLiteConnection) throws(SQLiteError) -> Bool {
        if try number("PRAGMA application_id", connection) == Int(applicationID) { return true }
        // Version 0.1.0 made this table before its first step: a crash in between left it alone.
        let others = "SELECT count(*) FROM sqlite_master WHERE tbl_name <> 'grdb_migrations'"
        return try number(others, connection) == 0
    }

    private func number(_ sql: String, _ connection: SQLiteConnection) throws(SQLiteError) -> Int {
        try connection.texts(sql).first.flatMap { Int($0) } ?? 0
    }
}
