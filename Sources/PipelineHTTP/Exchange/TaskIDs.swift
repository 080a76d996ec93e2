import Synchronization

/// Numbers for the tasks of one maker, from 1.
final class TaskIDs: Sendable {
    private let last = Mutex<UInt64>(0)

    func next() -> UInt64 {
        last.withLock { last in
            last += 1
            return last
        }
    }
}
