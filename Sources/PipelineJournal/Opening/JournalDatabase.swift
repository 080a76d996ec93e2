import CSQLite
import PipelineCore
import PipelineSQLite
import Synchronization

/// One connection to the journal's database, for one caller at a time.
///
/// `@unchecked`: ``connection`` is only touched under ``lock``.
final class JournalDatabase: @unchecked Sendable {
    let folder: StateFolder
    private let lock = Mutex(())
    /// Nil once it was closed.
    private var connection: SQLiteConnection?

    /// Connects to the database of a folder that has been prepared.
    init(_ folder: StateFolder, isReading: Bool = false) throws(JournalFailure) {
        self.folder = folder
        do throws(SQLiteError) {
            connection = try Self.connect(folder, isReading: isReading)
        } catch {
            throw JournalFailure(error)
        }
    }

    /// WAL: readers and one writer at the same time. FULL: a commit is on disk when it returns
    /// (sqlite.org/pragma.html#pragma_synchronous).
    private static func connect(_ folder: StateFolder, isReading: Bool) throws(SQLiteError) -> SQLiteConnection {
        let connection = try SQLiteConnection(folder.database, busyTimeout: folder.busyTimeout)
        guard try connection.texts("PRAGMA journal_mode = WAL") == ["wal"] else {
            throw SQLiteError(
                code: SQLITE_CANTOPEN, message: "the file system has no shared memory for WAL", file: folder.database)
        }
        // The cache in KiB. Pages that fall out still stand in the system's; one look over all jobs fills what it is given.
        try connection.execute(
            """
            PRAGMA foreign_keys = ON;
            PRAGMA synchronous = FULL;
            PRAGMA journal_size_limit = 4194304;
            PRAGMA cache_size = \(isReading ? -512 : -1024);
            PRAGMA query_only = \(isReading ? 1 : 0);
            """)
        return connection
    }

    /// Runs the body with the connection to itself; what it has not committed is rolled back.
    func access<Value: Sendable>(
        _ body: (SQLiteConnection) throws(JournalFailure) -> Value
    ) throws(JournalFailure) -> Value {
        try lock.withLock { (_) throws(JournalFailure) in
            guard let connection else { throw .other("the journal is closed") }
            defer { connection.rollBack() }
            return try body(connection)
        }
    }

    /// Runs a body that knows nothing of the journal.
    @discardableResult
    func administer<Value: Sendable>(
        _ body: (SQLiteConnection) throws(SQLiteError) -> Value
    ) throws(JournalFailure) -> Value {
        try access { (connection) throws(JournalFailure) in
            do throws(SQLiteError) { return try body(connection) } catch { throw JournalFailure(error) }
        }
    }

    /// Drops the pages that the connection keeps for later; waits for an access under way.
    func giveBackMemory() { lock.withLock { _ in connection?.releaseMemory() } }

    /// Closes the connection; nothing is accessed after.
    func close() { lock.withLock { _ in connection = nil } }
}

extension JournalDatabase {
    /// Returns whether the schema is the one that this program makes. Throws `.newer` or `.damaged` for one that it
    /// can't use.
    func isCurrent() throws(JournalFailure) -> Bool {
        let standing = try administer { (connection) throws(SQLiteError) in
            try JournalMigrations.migrator.standing(of: connection)
        }
        switch standing {
        case .current: return true
        case .outdated: return false
        case .newer: throw .newer(file: folder.database)
        case .foreign: throw .damaged(file: folder.database, reason: "it is not a journal of this program")
        }
    }

    /// Brings the schema up to date, each step in a transaction of its own.
    func migrate() throws(JournalFailure) {
        try administer { (connection) throws(SQLiteError) in try JournalMigrations.migrator.migrate(connection) }
    }
}
