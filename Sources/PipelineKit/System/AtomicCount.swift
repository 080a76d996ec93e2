import Synchronization

/// A count that any thread may raise.
final class AtomicCount: Sendable {
    private let value = Atomic<Int>(0)

    /// Raises the count and gives the new value, from 1.
    func next() -> Int { value.add(1, ordering: .relaxed).newValue }
}
