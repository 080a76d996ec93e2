import Synchronization

/// Closed once.
final class Latch: Sendable {
    private let state = Mutex(false)
    var isClosed: Bool { state.withLock { $0 } }
    func close() { state.withLock { $0 = true } }
}
