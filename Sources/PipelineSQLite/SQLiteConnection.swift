import CSQLite
import PipelineSQL

/// One connection to a database file, with the statements that it has prepared.
///
/// It belongs to whoever holds it and is used by one thread at a time: SQLite's own locks are left out
/// (SQLITE_OPEN_NOMUTEX, sqlite.org/threadsafe.html). The end of the object closes the connection; what was not committed
/// is rolled back then.
///
/// Statements are texts in the program's source, next to the values that they take. Each is prepared once and found again
/// by the address of its text.
package final class SQLiteConnection {
    /// The database's file.
    package let path: String
    let handle: OpaquePointer
    /// The buffer in which texts are written before they are bound: one buffer for all statements.
    var scratch: [UInt8] = []
    private var statements: [UnsafePointer<UInt8>: SQLiteStatement] = [:]

    /// Of the process, before its first connection.
    private static let configured: Void = csqlite_configure()

    /// Opens the file for reading and writing; SQLite opens one that can't be written for reading.
    ///
    /// A file is only opened, and its content not looked at, until the first statement runs.
    /// - Parameters:
    ///   - makesFile: whether a file that is not there is made, by the process's umask.
    ///   - busyTimeout: how long a statement waits for another connection that writes before it fails with SQLITE_BUSY.
    package init(_ path: String, makesFile: Bool = false, busyTimeout: Duration) throws(SQLiteError) {
        _ = Self.configured
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (makesFile ? SQLITE_OPEN_CREATE : 0)
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(path, &opened, flags, nil)
        guard code == SQLITE_OK, let opened else {
            defer { sqlite3_close_v2(opened) }
            throw Self.error(opened, code, file: path)
        }
        self.path = path
        handle = opened
        sqlite3_extended_result_codes(opened, 1)
        sqlite3_busy_timeout(opened, Int32(clamping: Int64(busyTimeout / .milliseconds(1))))
    }

    deinit {
        // SQLite closes no connection that still has statements.
        statements = [:]
        sqlite3_close_v2(handle)
    }

    /// The version of SQLite that is loaded (sqlite3_libversion).
    package static var libraryVersion: String { String(cString: sqlite3_libversion()) }

    /// True if the file was renamed, moved or removed since it was opened (SQLITE_FCNTL_HAS_MOVED,
    /// sqlite.org/c3ref/c_fcntl_begin_atomic_write.html): what is written then is found by no other process.
    package var hasMoved: Bool {
        var hasMoved: Int32 = 0
        return sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved) == SQLITE_OK && hasMoved != 0
    }

    /// The number of the row that was inserted last (sqlite3_last_insert_rowid).
    package var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(handle) }

    /// Drops the pages that are kept in memory to spare a look at the file (sqlite3_db_release_memory).
    package func releaseMemory() { sqlite3_db_release_memory(handle) }

    /// The failure of the call that has just returned the code.
    func error(_ code: Int32) -> SQLiteError { Self.error(handle, code, file: path) }

    private static func error(_ handle: OpaquePointer?, _ code: Int32, file: String) -> SQLiteError {
        guard let handle else { return SQLiteError(code: code, message: "out of memory", file: file) }
        return SQLiteError(
            code: sqlite3_extended_errcode(handle), system: sqlite3_system_errno(handle),
            message: String(cString: sqlite3_errmsg(handle)), file: file)
    }
}

// MARK: Statements

extension SQLiteConnection {
    /// The statement, prepared at its first use.
    private func statement(_ sql: StaticString) throws(SQLiteError) -> SQLiteStatement {
        if let statement = statements[sql.utf8Start] { return statement }
        let statement = try SQLiteStatement(sql.description, on: self)
        statements[sql.utf8Start] = statement
        return statement
    }

    /// Runs a statement with its named parameters, and returns how many rows it inserted, changed or deleted.
    @discardableResult
    package func run(_ sql: StaticString, _ values: SQLiteValues = [:]) throws(SQLiteError) -> Int {
        try statement(sql).run(values)
    }

    /// Runs a statement and calls the body with each row until it returns false.
    package func forEachRow<Failure: SQLiteFailure>(
        of sql: StaticString, _ values: SQLiteValues = [:], _ body: (SQLiteRow) throws(Failure) -> Bool
    ) throws(Failure) {
        let found: SQLiteStatement
        do throws(SQLiteError) { found = try statement(sql) } catch { throw Failure(error) }
        try found.forEachRow(values, body)
    }

    /// Runs a statement that was put together at run time and is not kept; the body is called as by
    /// ``forEachRow(of:_:_:)``.
    package func forEachRow<Failure: SQLiteFailure>(
        ofUnkept sql: String, _ values: SQLiteValues = [:], _ body: (SQLiteRow) throws(Failure) -> Bool
    ) throws(Failure) {
        let prepared: SQLiteStatement
        do throws(SQLiteError) { prepared = try SQLiteStatement(sql, on: self) } catch { throw Failure(error) }
        try prepared.forEachRow(values, body)
    }

    /// The first row of a statement, read; nil when there is none.
    package func first<Value>(
        _ sql: StaticString, _ values: SQLiteValues = [:], _ read: (SQLiteRow) -> Value
    ) throws(SQLiteError) -> Value? {
        var value: Value?
        try forEachRow(of: sql, values) { (row) throws(SQLiteError) in
            value = read(row)
            return false
        }
        return value
    }

    /// The first column of each row of a statement that is not kept, as texts: for pragmas. NULL is left out.
    package func texts(_ sql: String) throws(SQLiteError) -> [String] {
        var texts: [String] = []
        try forEachRow(ofUnkept: sql) { (row) throws(SQLiteError) in
            if let text = row.firstText { texts.append(text) }
            return true
        }
        return texts
    }

    /// Runs statements without parameters, one after the other, up to the first that fails; rows are thrown away.
    package func execute(_ script: String) throws(SQLiteError) {
        let code = sqlite3_exec(handle, script, nil, nil, nil)
        guard code == SQLITE_OK else { throw error(code) }
    }
}

// MARK: Transactions

extension SQLiteConnection {
    /// The way in which a transaction begins (sqlite.org/lang_transaction.html).
    package enum TransactionKind {
        /// All that is read belongs to one moment; nothing is written.
        case reading
        /// No other connection writes meanwhile.
        case writing
    }

    /// Runs the body in one transaction, and commits; what fails is rolled back whole.
    package func transaction<Value, Failure: SQLiteFailure>(
        _ kind: TransactionKind, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        defer { rollBack() }
        do throws(SQLiteError) {
            switch kind {
            case .reading: try run("BEGIN")
            case .writing: try run("BEGIN IMMEDIATE")
            }
        } catch { throw Failure(error) }
        let value = try body()
        do throws(SQLiteError) { try run("COMMIT") } catch { throw Failure(error) }
        return value
    }

    /// Returns whether a transaction is open. SQLite ends one by itself after a full disk or a failed read or write.
    package var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// Rolls back what was begun and not committed; does nothing where nothing was.
    package func rollBack() {
        if isInTransaction { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
    }
}
