/// Finds exchanges on which nothing moves: libcurl's own low-speed limit knows whole seconds only.
struct IdleWatch {
    private var nextCheck: Duration?

    /// Sleeps no longer than this when nothing is due.
    private static let longestSleep: Int32 = 3_600_000

    mutating func add(_ timeout: Duration?) {
        guard let timeout else { return }
        let due = MachineClock.monotonic() + timeout
        nextCheck = min(nextCheck ?? due, due)
    }

    /// Ends what has been idle too long, and says how long the thread may sleep.
    mutating func milliseconds(
        until exchanges: some Collection<CurlExchange>, end: (CurlExchange) -> Void
    ) -> Int32 {
        guard let due = nextCheck else { return Self.longestSleep }
        let now = MachineClock.monotonic()
        if now < due { return Self.rounded(due - now) }
        nextCheck = nil
        for exchange in Array(exchanges) {
            guard let limit = exchange.options.idleTimeout else { continue }
            let deadline = (exchange.isConnected ? exchange.lastMove : now) + limit
            if deadline <= now {
                end(exchange)
            } else {
                nextCheck = min(nextCheck ?? deadline, deadline)
            }
        }
        return nextCheck.map { Self.rounded($0 - now) } ?? Self.longestSleep
    }

    private static func rounded(_ duration: Duration) -> Int32 {
        let (seconds, attoseconds) = duration.components
        return Int32(min(Int64(longestSleep), seconds * 1000 + attoseconds / 1_000_000_000_000_000 + 1))
    }
}
