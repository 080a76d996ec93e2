import GRDBSQLite

extension SQLiteJournal {
    /// The version of SQLite that is loaded (sqlite3_libversion).
    public static var libraryVersion: String { String(cString: sqlite3_libversion()) }
}
