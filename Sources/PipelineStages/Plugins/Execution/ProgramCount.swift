import Synchronization

/// The number of programs of plugins that run at this moment.
final class ProgramCount: Sendable {
    private let count = Mutex(0)

    var isZero: Bool { count.withLock { $0 == 0 } }

    func begin() { count.withLock { $0 += 1 } }

    func end() { count.withLock { $0 -= 1 } }
}
