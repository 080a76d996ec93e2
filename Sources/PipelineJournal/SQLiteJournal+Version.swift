import PipelineSQLite

extension SQLiteJournal {
    /// The version of SQLite that is loaded (sqlite3_libversion).
    package static var libraryVersion: String { SQLiteConnection.libraryVersion }
}
