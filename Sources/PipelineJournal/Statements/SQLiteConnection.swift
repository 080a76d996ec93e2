import GRDBSQLite
import PipelineCore

/// The prepared statements of one SQLite connection, and its failures as data.
///
/// Belongs to the thread or queue that holds the connection; never shared between two.
final class SQLiteConnection {
    let handle: OpaquePointer
    let folder: String
    let file: String
    /// Where JSON is written before it is bound: one buffer for all statements.
    var scratch: [UInt8] = []
    private var statements: [SQLiteStatement?] = Array(repeating: nil, count: JournalStatement.allCases.count)

    init(handle: OpaquePointer, folder: String, file: String) {
        self.handle = handle
        self.folder = folder
        self.file = file
        scratch.reserveCapacity(4096)
    }

    /// The statement, prepared at its first use.
    func statement(_ name: JournalStatement) throws(JournalFailure) -> SQLiteStatement {
        if let statement = statements[name.rawValue] { return statement }
        let statement = try SQLiteStatement(name.sql, on: self)
        statements[name.rawValue] = statement
        return statement
    }

    /// Runs a statement without parameters and rows.
    func run(_ name: JournalStatement) throws(JournalFailure) { try statement(name).run() }

    /// Frees all statements: SQLite closes no connection that still has some.
    func finalizeStatements() {
        for statement in statements { statement?.finalize() }
        statements = Array(repeating: nil, count: statements.count)
    }

    /// Whether a transaction is open. SQLite ends one by itself after a full disk or a failed read or write.
    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// Rolls back what was begun and not committed. SQLite may have done so by itself.
    func endTransaction() {
        if isInTransaction { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
    }

    /// The failure of the call that has just returned the code.
    func failure(_ code: Int32) -> JournalFailure {
        JournalFailure(
            sqlite: sqlite3_extended_errcode(handle), system: sqlite3_system_errno(handle),
            message: String(cString: sqlite3_errmsg(handle)), folder: folder, file: file)
    }

    func damaged(_ reason: String) -> JournalFailure { .damaged(file: file, reason: reason) }
}
