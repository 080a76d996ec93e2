/// A rate that several transfers share: bytes become free with time, and are taken when they move.
///
/// What has come from the network can't be cut at will: it is taken whole, and what it takes too much is owed.
struct TokenBucket {
    private let bytesPerSecond: Double
    /// The number of bytes that may gather while nothing moves.
    let capacity: Double
    private var level: Double
    private var filledAt: Duration

    /// - Parameter bytesPerSecond: more than zero.
    init(bytesPerSecond: Int64, now: Duration) {
        self.bytesPerSecond = Double(max(1, bytesPerSecond))
        capacity = max(self.bytesPerSecond / 10, min(self.bytesPerSecond, 1024))
        level = capacity
        filledAt = now
    }

    /// The number of bytes that are worth a wake-up: a transfer that waits goes on when that much is free.
    var quantum: Double { min(capacity, 1_048_576) }

    mutating func available(at now: Duration) -> Int {
        let elapsed = (now - filledAt).seconds
        if elapsed > 0 {
            level = min(capacity, level + elapsed * bytesPerSecond)
            filledAt = now
        }
        return Int(max(0, level.rounded(.down)))
    }

    mutating func take(_ count: Int) { level -= Double(count) }

    /// Returns how long until a quantum is free.
    mutating func wait(at now: Duration) -> Duration {
        _ = available(at: now)
        return level >= quantum ? .zero : .seconds((quantum - level) / bytesPerSecond)
    }
}
