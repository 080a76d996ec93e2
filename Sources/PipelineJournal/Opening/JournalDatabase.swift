import CSQLite
import GRDB
import GRDBSQLite
import PipelineCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// One connection to the journal's database: a GRDB queue, and our own prepared statements on it.
///
/// `@unchecked`: ``statements`` is only touched inside ``access(_:)``, which GRDB runs one at a time.
final class JournalDatabase: @unchecked Sendable {
    /// Of the process, before its first connection.
    private static let memoryIsNotCounted: Void = sqlite_stop_counting_memory()

    private let queue: DatabaseQueue
    private let statements: SQLiteConnection
    let folder: StateFolder

    /// Connects to the database of a folder that has been prepared.
    convenience init(_ folder: StateFolder, isReading: Bool = false) throws(JournalFailure) {
        _ = Self.memoryIsNotCounted
        do {
            let queue = try DatabaseQueue(path: folder.database, configuration: Self.configuration(folder, isReading))
            let statements = try queue.inDatabase { database in
                guard let handle = database.sqliteConnection else { throw JournalFailure.other("no connection") }
                return SQLiteConnection(handle: handle, folder: folder.path, file: folder.database)
            }
            self.init(queue: queue, statements: statements, folder: folder)
        } catch {
            throw JournalFailure(error, folder: folder.path, file: folder.database)
        }
    }

    private init(queue: DatabaseQueue, statements: SQLiteConnection, folder: StateFolder) {
        self.queue = queue
        self.statements = statements
        self.folder = folder
    }

    /// Runs the body with the connection to itself; what it has not committed is rolled back.
    func access<Value>(_ body: (SQLiteConnection) throws(JournalFailure) -> Value) throws(JournalFailure) -> Value {
        do {
            return try queue.inDatabase { _ in
                defer { statements.endTransaction() }
                return try body(statements)
            }
        } catch {
            throw JournalFailure(error, folder: folder.path, file: folder.database)
        }
    }

    /// Runs the body with GRDB's own interface, for what is not done often.
    func administer<Value>(_ body: (Database) throws -> Value) throws(JournalFailure) -> Value {
        do {
            return try queue.inDatabase(body)
        } catch {
            throw JournalFailure(error, folder: folder.path, file: folder.database)
        }
    }

    /// Drops the pages that the connection keeps for later; from any thread.
    func giveBackMemory() { queue.releaseMemory() }

    deinit { statements.finalizeStatements() }

    /// Frees the statements and closes the connection; the object is not used after.
    func close() {
        queue.inDatabase { _ in statements.finalizeStatements() }
        try? queue.close()
    }
}

extension JournalDatabase {
    /// WAL: readers and one writer at the same time. FULL: a commit is on disk when it returns
    /// (sqlite.org/pragma.html#pragma_synchronous). GRDB's own WAL set-up is not used: it chooses NORMAL, and writes
    /// at each opening.
    private static func configuration(_ folder: StateFolder, _ isReading: Bool) -> Configuration {
        var configuration = Configuration()
        configuration.busyMode = .timeout(folder.busyTimeout.seconds)
        configuration.foreignKeysEnabled = true
        // Without it GRDB ends the process when a transaction can't be closed, e.g. after a failed read.
        configuration.allowsUnsafeTransactions = true
        configuration.prepareDatabase { database in
            guard try String.fetchOne(database, sql: "PRAGMA journal_mode = WAL") == "wal" else {
                throw DatabaseError(
                    resultCode: .SQLITE_CANTOPEN, message: "the file system has no shared memory for WAL")
            }
            try database.execute(sql: "PRAGMA synchronous = FULL")
            try database.execute(sql: "PRAGMA journal_size_limit = 4194304")
            // In KiB. Pages that fall out still stand in the system's cache; one look over all jobs fills what it is given.
            try database.execute(sql: "PRAGMA cache_size = \(isReading ? -512 : -1024)")
            if isReading { try database.execute(sql: "PRAGMA query_only = 1") }
        }
        return configuration
    }

    /// Whether the schema is the one that this program makes. Throws `.newer` or `.damaged` for one that it can't use.
    func isCurrent() throws(JournalFailure) -> Bool {
        let migrator = JournalMigrations.migrator
        // In one transaction: another process may be making the schema at this moment.
        let (isOurs, isNewer, isCurrent) = try administer { database in
            var facts = (true, false, false)
            try database.inTransaction(.deferred) {
                facts = (
                    try Self.isOurs(database), try migrator.hasBeenSuperseded(database),
                    try migrator.hasCompletedMigrations(database)
                )
                return .commit
            }
            return facts
        }
        guard isOurs else { throw .damaged(file: folder.database, reason: "it is not a journal of this program") }
        if isNewer { throw .newer(file: folder.database) }
        return isCurrent
    }

    /// Brings the schema up to date, each step in a transaction of its own.
    func migrate() throws(JournalFailure) {
        do {
            try JournalMigrations.migrator.migrate(queue)
        } catch {
            throw JournalFailure(error, folder: folder.path, file: folder.database)
        }
    }

    /// Whether the database is empty or one of this program's.
    private static func isOurs(_ database: Database) throws -> Bool {
        if try Int32.fetchOne(database, sql: "PRAGMA application_id") == JournalMigrations.applicationID { return true }
        // GRDB makes its own table before the first migration: a crash in between leaves that one alone.
        let others = "SELECT count(*) FROM sqlite_master WHERE tbl_name <> 'grdb_migrations'"
        return try Int.fetchOne(database, sql: others) == 0
    }
}
