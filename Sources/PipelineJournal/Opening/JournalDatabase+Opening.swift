import CLibrary
import PipelineCore

extension JournalDatabase {
    /// Opens the folder's database, made if need be, with its schema up to date.
    ///
    /// Processes that open a new or an older one at the same moment take turns, so that the schema is made once.
    static func open(_ folder: StateFolder) throws(JournalFailure) -> JournalDatabase {
        try folder.prepare()
        var lock: FileLock?
        if folder.hasEmptyDatabase { lock = try openingLock(folder) }
        let database = try JournalDatabase(folder)
        if try database.isCurrent() { return database }
        if lock == nil { lock = try openingLock(folder) }
        try database.migrate()
        _ = consume lock
        return database
    }

    /// Waits for its turn, but not for long: a process that was stopped while opening must not stop all others.
    private static func openingLock(_ folder: StateFolder) throws(JournalFailure) -> FileLock {
        for _ in 0..<1_000 {
            if let lock = FileLock(folder.openingLock) { return lock }
            guard errno == EAGAIN else { throw folder.systemRefusal("\(folder.openingLock) can't be locked") }
            usleep(10_000)
        }
        throw .busy
    }
}
