import CLibrary
import PipelineCore
import PipelinePostgres

/// Reads besides the writer, on a connection of its own that is opened at the first reading.
///
/// `@unchecked`: ``connection`` is only touched on ``queue``.
final class PostgresReader: @unchecked Sendable {
    private let address: PostgresAddress
    private let owners: PostgresOwners
    private let patience: Duration
    private let outage: PostgresOutage
    private let queue = ReadingQueue()
    private var connection: PostgresConnection?
    private var isClosed = false

    init(_ address: PostgresAddress, owners: PostgresOwners, patience: Duration, outage: PostgresOutage) {
        self.address = address
        self.owners = owners
        self.patience = patience
        self.outage = outage
    }

    /// Runs the body on one state of the database; again, when the connection broke under it.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (inout JobReader<PostgresConnection>) throws(JournalFailure) -> Value
    ) async throws(JournalFailure) -> Value {
        try await queue.run { [self] () throws(JournalFailure) in try reading(body) }
    }

    /// Reads on a thread that may block.
    func readBlocking<Value: Sendable>(
        _ body: @escaping @Sendable (inout JobReader<PostgresConnection>) throws(JournalFailure) -> Value
    ) throws(JournalFailure) -> Value {
        try queue.runBlocking { () throws(JournalFailure) in try reading(body) }
    }

    func close() {
        queue.async { [self] in
            connection = nil
            isClosed = true
        }
    }

    private func connected() throws(JournalFailure) -> PostgresConnection {
        if let connection, connection.loss == nil { return connection }
        connection = nil
        do throws(PostgresError) {
            let opened = try PostgresConnection(address, name: "pipeline reader")
            try opened.enter(schema: PostgresSchema.name)
            connection = opened
            return opened
        } catch {
            isAway = error.isAway
            throw JournalFailure(error, at: address)
        }
    }

    private var isAway = false

    private func reading<Value: Sendable>(
        _ body: (inout JobReader<PostgresConnection>) throws(JournalFailure) -> Value
    ) throws(JournalFailure) -> Value {
        let start = owners.now
        while true {
            if isClosed { throw .other("the journal is closed") }
            isAway = false
            do throws(JournalFailure) {
                let value = try readOnce(body)
                outage.end(of: .reader)
                return value
            } catch {
                if connection?.loss != nil { isAway = true }
                if isAway { outage.report(error, of: .reader) }
                let patience = Int64(patience / .milliseconds(1))
                guard isAway,
                    owners.isWorker || outage.allowsWaiting(since: start, until: owners.now, patience: patience)
                else { throw error }
                usleep(UInt32.random(in: 400_000...600_000))
            }
        }
    }

    private func readOnce<Value: Sendable>(
        _ body: (inout JobReader<PostgresConnection>) throws(JournalFailure) -> Value
    ) throws(JournalFailure) -> Value {
        let connection = try connected()
        defer { connection.rollBack() }
        try connection.begin("ISOLATION LEVEL REPEATABLE READ READ ONLY")
        var reader = JobReader(connection: connection, owners: owners)
        return try body(&reader)
    }
}
