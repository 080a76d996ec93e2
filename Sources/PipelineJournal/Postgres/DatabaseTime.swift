import PipelineCore
import PipelinePostgres
import PipelineSQL
import Synchronization

/// The time of day that all machines of a journal share: that of the database, read now and then, and counted on by the
/// lease clock, which nobody sets.
final class DatabaseTime: Sendable {
    private let clock: any LeaseClock
    /// The database's time less that of the lease clock, in milliseconds.
    private let offset = Mutex<Int64>(0)

    init(_ clock: any LeaseClock, on connection: PostgresConnection) throws(JournalFailure) {
        self.clock = clock
        try read(on: connection)
    }

    var now: Timestamp { Timestamp(milliseconds: clock.now + offset.withLock { $0 }) }

    /// Reads the database's time, in a round trip in the middle of which it is taken to be told.
    func read(on connection: PostgresConnection) throws(JournalFailure) {
        let sent = clock.now
        var told: Int64?
        try connection.readRows(
            ofUnkept: "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) AS now", [:]
        ) { row in
            told = row.integer("now")
            return false
        }
        guard let told else { return }
        let middle = (sent + clock.now) / 2
        offset.withLock { $0 = told - middle }
    }
}
