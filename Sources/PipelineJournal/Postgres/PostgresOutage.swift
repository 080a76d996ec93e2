import PipelineCore
import Synchronization

/// Whether the database can be reached by a process's connections. That it is away is told once, whichever finds out first,
/// and so is that it is back.
final class PostgresOutage: Sendable {
    enum Connection: Sendable {
        case writer, reader
    }

    private let failures = Mutex<[Connection: JournalFailure]>([:])
    private let observe: @Sendable (JournalFailure?) -> Void

    init(observe: @escaping @Sendable (JournalFailure?) -> Void) { self.observe = observe }

    /// Why the database can't be reached; nil while it can.
    var failure: JournalFailure? { failures.withLock { $0[.writer] ?? $0[.reader] } }

    func report(_ failure: JournalFailure, of connection: Connection) {
        let isFirst = failures.withLock { failures in
            defer { failures[connection] = failure }
            return failures.isEmpty
        }
        if isFirst { observe(failure) }
    }

    func end(of connection: Connection) {
        let isLast = failures.withLock { failures in
            failures.removeValue(forKey: connection) != nil && failures.isEmpty
        }
        if isLast { observe(nil) }
    }
}
