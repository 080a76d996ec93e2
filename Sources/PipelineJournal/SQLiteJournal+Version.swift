import PipelineSQLite

extension SQLiteJournal {
    /// The version of SQLite that is loaded (sqlite3_libversion).
    public static var libraryVersion: String { SQLiteConnection.libraryVersion }
}
