import CLibrary
package import PipelineCore
import PipelineSQL
import PipelineSQLite

extension SQLiteJournal {
    /// Copies the journal as it is at this moment into a new file, while jobs go on.
    ///
    /// The file is made private (0600), and is on disk when this returns; a file that is there already is not replaced.
    /// It blocks its thread for as long as the disk needs.
    @concurrent
    package func backup(to path: String) async throws(JournalFailure) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw StateFolder(path).systemRefusal("\(path) can't be made") }
        defer { closeDescriptor(descriptor) }
        _ = fchmod(descriptor, 0o600)
        do throws(JournalFailure) {
            let database = try JournalDatabase(folder)
            defer { database.close() }
            try database.administer { (connection) throws(SQLiteError) in
                try connection.run("VACUUM INTO :path", ["path": path])
            }
            guard fsync(descriptor) == 0 else { throw StateFolder(path).systemRefusal("\(path) can't be written") }
            folder.syncFolder(StateFolder.parent(of: path))
        } catch {
            unlink(path)
            throw error
        }
    }

    /// Returns what is wrong with the journal, one sentence each; empty when nothing is.
    ///
    /// Reads the whole database: pages and indexes, references between tables, and whether each job can be read.
    @concurrent
    package func checkIntegrity() async throws(JournalFailure) -> [String] {
        let database = try JournalDatabase(folder, isReading: true)
        defer { database.close() }
        let mistakes = try database.administer { (connection) throws(SQLiteError) in
            var mistakes = try connection.texts("PRAGMA integrity_check").filter { $0 != "ok" }
            try connection.forEachRow(of: "PRAGMA foreign_key_check") { (row) throws(SQLiteError) in
                mistakes.append(
                    "a row of \(row.text("table")) belongs to a \(row.text("parent")) row that is not there")
                return true
            }
            return mistakes
        }
        guard mistakes.isEmpty else { return mistakes }
        return try await wrongRows()
    }
}

/// `close` of the C library, which the journal's own method hides.
private func closeDescriptor(_ descriptor: Int32) { close(descriptor) }
