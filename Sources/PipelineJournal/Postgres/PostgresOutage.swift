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
    private let observe: @Sendable (JournalFailure?) -> Void

    init(observe: @escaping @Sendable (JournalFailure?) -> Void) { self.observe = observe }

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
            state.isGivenUp = false
            return state.failures.removeValue(forKey: connection) != nil && state.failures.isEmpty
        }
        if isLast { observe(nil) }
    }

    /// Returns whether a call that began at a time, by a clock in milliseconds, may wait for the database any longer. Once
    /// one has waited for too long no other waits, until the database is back: an outage is waited for once.
    func allowsWaiting(since start: Int64, until now: Int64, patience: Int64) -> Bool {
        state.withLock { state in
            state.isGivenUp = state.isGivenUp || now - start >= patience
            return !state.isGivenUp
        }
    }
}
