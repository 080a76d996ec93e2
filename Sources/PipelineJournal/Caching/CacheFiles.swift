import CLibrary
import CSQLite
import PipelineCore
import PipelineSQLite

/// The database file of a response cache: how it is made, and how it and those of earlier versions are removed.
struct CacheFiles: Sendable {
    /// Raised whenever ``schema`` changes.
    static let version = 1
    static let pageSize: Int64 = 4096

    let folder: StateFolder

    private static let schema = """
        CREATE TABLE IF NOT EXISTS responses (
            number INTEGER PRIMARY KEY,
            key TEXT NOT NULL UNIQUE,
            used INTEGER NOT NULL,
            status INTEGER NOT NULL,
            url TEXT NOT NULL,
            fields TEXT NOT NULL,
            variant_names TEXT NOT NULL,
            variant_digest TEXT NOT NULL,
            time REAL NOT NULL,
            body BLOB NOT NULL
        ) STRICT;
        CREATE INDEX IF NOT EXISTS responses_by_use ON responses (used);
        """

    var database: String { path(Self.version) }
    private var lockFile: String { folder.path + "/cache.lock" }
    private func path(_ version: Int) -> String { "\(folder.path)/cache-\(version).sqlite" }

    /// Opens the database, made if need be; nil when the folder is not there or not ours, and while another process opens
    /// or removes it.
    func open() throws(SQLiteError) -> SQLiteConnection? {
        guard access(folder.path, F_OK) == 0, let lock = FileLock(lockFile) else { return nil }
        do throws(JournalFailure) { try folder.prepareFile(database) } catch { return nil }
        removeEarlier()
        let connection = try connect()
        _ = consume lock
        return connection
    }

    /// NORMAL: what was stored last may be lost in a power cut, the rest is whole.
    private func connect() throws(SQLiteError) -> SQLiteConnection {
        let connection = try SQLiteConnection(database, busyTimeout: .milliseconds(250))
        try connection.execute(
            """
            PRAGMA page_size = \(Self.pageSize);
            PRAGMA journal_mode = WAL;
            PRAGMA synchronous = NORMAL;
            PRAGMA journal_size_limit = 4194304;
            PRAGMA cache_size = -512;
            """)
        try connection.transaction(.writing) { () throws(SQLiteError) in try connection.execute(Self.schema) }
        return connection
    }

    /// Returns whether the file has to be begun again.
    func isDamage(_ error: SQLiteError) -> Bool {
        // A table of the name that is another one can't be made by this program.
        [SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_ERROR, SQLITE_MISMATCH].contains(error.primaryCode)
    }

    /// Removes the database, unless another process is at it.
    func remove() {
        guard let lock = FileLock(lockFile) else { return }
        removeDatabase(Self.version)
        _ = consume lock
    }

    private func removeDatabase(_ version: Int) {
        // The log first: one that is left would be taken for that of the next database.
        for suffix in ["-wal", "-shm", ""] { unlink(path(version) + suffix) }
    }

    /// Removes what earlier versions left: databases, and the folder with a file for each response of version 0.1.0.
    private func removeEarlier() {
        for version in 1..<Self.version { removeDatabase(version) }
        let files = folder.path + "/cache"
        for name in FolderContent.names(files) { unlink(files + "/" + name) }
        rmdir(files)
    }
}
