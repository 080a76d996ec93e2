import PipelineCore
import PipelineSQLite

/// Reads next to the writer, on a connection of its own that is opened at the first reading.
///
/// `@unchecked`: ``database`` is only touched on ``queue``.
final class JournalReader: @unchecked Sendable {
    private let folder: StateFolder
    private let owners: Owners
    private let queue = ReadingQueue()
    private var database: JournalDatabase?
    private var isClosed = false

    init(folder: StateFolder, owners: Owners) {
        self.folder = folder
        self.owners = owners
    }

    /// Runs the body on one state of the database.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (inout JobReader<SQLiteConnection>) throws(JournalFailure) -> Value
    ) async throws(JournalFailure) -> Value {
        try await queue.run { [self] () throws(JournalFailure) in try reading(body) }
    }

    /// Reads on a thread that may block.
    func readBlocking<Value: Sendable>(
        _ body: @escaping @Sendable (inout JobReader<SQLiteConnection>) throws(JournalFailure) -> Value
    ) throws(JournalFailure) -> Value {
        try queue.runBlocking { () throws(JournalFailure) in try reading(body) }
    }

    /// Drops what the connection keeps in memory for later; waits for a reading under way.
    func giveBackMemory() { queue.sync { database?.giveBackMemory() } }

    func close() {
        queue.async { [self] in
            database?.close()
            database = nil
            isClosed = true
        }
    }

    private func connected() throws(JournalFailure) -> JournalDatabase {
        if let database { return database }
        let opened = try JournalDatabase(folder, isReading: true)
        database = opened
        return opened
    }

    private func reading<Value: Sendable>(
        _ body: (inout JobReader<SQLiteConnection>) throws(JournalFailure) -> Value
    ) throws(JournalFailure) -> Value {
        if isClosed { throw .other("the journal is closed") }
        return try connected().access { (connection) throws(JournalFailure) in
            try connection.transaction(.reading) { () throws(JournalFailure) in
                var reader = JobReader(connection: connection, owners: owners)
                return try body(&reader)
            }
        }
    }
}
