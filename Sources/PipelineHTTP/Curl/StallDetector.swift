/// Finds exchanges on which nothing moves, or too little: libcurl's own low-speed limit knows whole seconds only, and
/// takes a service that thinks about its answer for one that has stalled.
struct StallDetector {
    private var nextCheck: Duration?

    /// True while there is anything to look for.
    var isWatching: Bool { nextCheck != nil }

    mutating func add(_ options: ExchangeOptions, sendsBody: Bool) {
        let times = [options.idleTimeout, options.stall?.time, sendsBody ? options.patienceAfterAnswer : nil]
            .compactMap(\.self)
        guard let shortest = times.min() else { return }
        let due = MachineClock.monotonic() + shortest
        nextCheck = min(nextCheck ?? due, due)
    }

    /// Ends what has been idle or slow too long, and says when to look again.
    mutating func check(
        _ exchanges: some Collection<CurlExchange>, at now: Duration,
        end: (CurlExchange, ExchangeFailure.Timeout) -> Void
    ) -> Duration? {
        guard let due = nextCheck else { return nil }
        if now < due { return due }
        nextCheck = nil
        for exchange in Array(exchanges) {
            let deadlines = exchange.deadlines(at: now)
            if let passed = deadlines.first(where: { $0.time <= now }) {
                end(exchange, passed.limit)
            } else if let next = deadlines.map(\.time).min() {
                nextCheck = min(nextCheck ?? next, next)
            }
        }
        return nextCheck
    }
}
