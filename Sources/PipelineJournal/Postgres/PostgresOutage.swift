import PipelineCore
import Synchronization

/// Whether the database can be reached by a process's connections. That it is away is told once, whichever finds out first,
/// and so is that it is back.
final class PostgresOutage: Sendable {
    enum Connection: Sendable {
        case writer, reader
    }

    private struct State {
        var failures: [Connection: JournalFailure] = [:]
        var isGivenUp = false
    }

    private let state = Mutex(State())
    private let place: String
    private let clock: any LeaseClock
    private let patience: Duration
    private let isWorker: @Sendable () -> Bool
    private let observe: @Sendable (JournalFailure?) -> Void

    /// - Parameters:
    ///   - place: the place where the database is, for messages.
    ///   - patience: the time for which a command waits for the database; a worker waits for as long as it takes.
    init(
        of place: String, clock: any LeaseClock, patience: Duration, isWorker: @escaping @Sendable () -> Bool,
        observe: @escaping @Sendable (JournalFailure?) -> Void
    ) {
        self.place = place
        self.clock = clock
        self.patience = patience
        self.isWorker = isWorker
        self.observe = observe
    }

    /// Why the database can't be reached; nil while it can.
    var failure: JournalFailure? { state.withLock { $0.failures[.writer] ?? $0.failures[.reader] } }

    func report(_ failure: JournalFailure, of connection: Connection) {
        let isFirst = state.withLock { state in
            defer { state.failures[connection] = failure }
            return state.failures.isEmpty
        }
        if isFirst { observe(failure) }
    }

    func end(of connection: Connection) {
        let isLast = state.withLock { state in
            let wasAway = state.failures.removeValue(forKey: connection) != nil
            // Reads may be answered while a lock of others holds all writes up.
            guard state.failures.isEmpty else { return false }
            state.isGivenUp = false
            return wasAway
        }
        if isLast { observe(nil) }
    }

    /// Returns whether a call that began at a time, by the clock, may wait for the database any longer. Once one has
    /// waited for too long no other waits, until the database is back: an outage is waited for once.
    func allowsWaiting(since start: Int64) -> Bool {
        if isWorker() { return true }
        let waited = Duration.milliseconds(clock.now - start)
        return state.withLock { state in
            state.isGivenUp = state.isGivenUp || waited >= patience
            return !state.isGivenUp
        }
    }

    /// Returns whether a connection is kept whose server has not answered for so long: it may be frozen, or a lock of others
    /// in the way. After a quarter of the patience that is told as of a server that is away, and after all of it a worker
    /// leaves it for another connection too: what froze may be no longer the one that answers.
    func allowsSilence(_ silence: Duration, of connection: Connection) -> Bool {
        guard silence >= patience / 4 || state.withLock(\.isGivenUp) else { return true }
        report(.away(place: place, reason: "it takes connections and does not answer"), of: connection)
        return allowsWaiting(since: clock.now - Int64(silence / .milliseconds(1))) && silence < patience
    }
}
