import CLibrary
import PipelineCore
import PipelinePostgres

/// Reads next to the writer, on a connection of its own that is opened at the first reading.
///
/// `@unchecked`: ``connection`` is only touched on ``queue``.
final class PostgresReader: @unchecked Sendable {
    private let address: PostgresAddress
    private let owners: PostgresOwners
    private let outage: PostgresOutage
    private let queue = ReadingQueue()
    private var connection: PostgresConnection?
    private var isClosed = false

    init(_ address: PostgresAddress, owners: PostgresOwners, outage: PostgresOutage) {
        self.address = address
        self.owners = owners
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
            let opened = try PostgresConnection(address, name: "pipeline reader") { [outage] in
                outage.allowsSilence($0, of: .reader)
            }
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
                guard isAway else {
                    // It has answered.
                    outage.end(of: .reader)
                    throw error
                }
                outage.report(error, of: .reader)
                guard outage.allowsWaiting(since: start) else { throw error }
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
