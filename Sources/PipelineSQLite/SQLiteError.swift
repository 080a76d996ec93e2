import CSQLite

/// A call of SQLite that failed, with what SQLite and the system say of it.
package struct SQLiteError: Error, Equatable {
    /// The extended result code (sqlite.org/rescode.html).
    package let code: Int32
    /// `errno` of the system call below it; zero when there was none. A full disk is not always SQLITE_FULL, e.g. when
    /// the shared memory file can't grow or a limit on file sizes is reached.
    package let system: Int32
    package let message: String
    /// The database's file.
    package let file: String

    package init(code: Int32, system: Int32 = 0, message: String, file: String) {
        self.code = code
        self.system = system
        self.message = message
        self.file = file
    }

    /// The kind of failure: the low byte of ``code``.
    package var primaryCode: Int32 { code & 0xFF }
}

/// A failure that a failed call of SQLite turns into, so that code inside a transaction throws one type.
package protocol SQLiteFailure: Error {
    init(_ error: SQLiteError)
}

extension SQLiteError: SQLiteFailure {
    package init(_ error: SQLiteError) { self = error }
}
