import PipelineCore

/// What a writer measured, and calls did, that no promise rests on: it is written when a job ends or is let go, else once a
/// second, with what else is written then, or alone. Where jobs end one after the other they share a time to be written.
struct LaggingMeasurements {
    private var held = Measurements()
    /// The time at which they are to be written; nil while calls have brought none.
    private var due: ContinuousClock.Instant?
    /// The time at which they were written last; nil before that.
    private var written: ContinuousClock.Instant?
    /// The longest that they are held, and the time for which the ends of jobs write them no second time.
    private static let (longest, pause) = (Duration.seconds(1), Duration.milliseconds(50))

    /// The milliseconds until they are due; nil while calls have brought none.
    var milliseconds: Int? {
        due.map { max(0, Int(($0 - ContinuousClock.now) / .milliseconds(1))) }
    }

    /// The time after which a writer looks up though no call came: once they are due, or when leases are to be renewed; nil for
    /// never.
    func wait(orRenewing interval: Int?) -> Int? { [interval, milliseconds].compactMap { $0 }.min() }

    var isDue: Bool { milliseconds == 0 }
    var isEmpty: Bool { held.isEmpty }
    /// True if calls have brought some.
    var holdsCalls: Bool { due != nil }

    /// Takes in what the calls of a transaction measured, and counts it; gives what it is to add to the rows.
    mutating func exchange(_ gathered: GatheredMeasurements.Content) -> Measurements {
        held.count(.journalCommits, [])
        let now = ContinuousClock.now
        let next = gathered.endsJob ? written.map { $0 + Self.pause } ?? now : now + Self.longest
        if gathered.isLast || min(next, due ?? next) <= now { return takeAll(with: gathered.measured) }
        var prompt = gathered.measured
        let lagging = prompt.takeLagging()
        if gathered.endsJob || !lagging.isEmpty {
            held.add(lagging)
            due = min(next, due ?? next)
        }
        return prompt
    }

    /// Gives all there is, and what a transaction is to add.
    mutating func takeAll(with measured: Measurements = Measurements()) -> Measurements {
        defer {
            self = LaggingMeasurements()
            written = ContinuousClock.now
        }
        held.add(measured)
        return held
    }

    /// Keeps how long a transaction took; that is no reason for another one.
    mutating func observe(_ duration: Duration) { held.observe(.journalCommit, [], duration / .seconds(1)) }

    /// Waits for another second: they could not be written.
    mutating func postpone() { due = ContinuousClock.now + Self.longest }
}
