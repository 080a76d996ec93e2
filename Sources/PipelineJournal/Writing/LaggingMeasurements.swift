import PipelineCore

/// What a writer measured, and calls did, that no promise rests on: it is written when a job ends or is let go, else once a
/// second, with what else is written then, or alone.
struct LaggingMeasurements {
    private var held = Measurements()
    /// The time at which the first of them came that calls brought.
    private var since: ContinuousClock.Instant?
    /// The longest that they are held.
    private static let longest = Duration.seconds(1)

    /// The milliseconds until they are due; nil while calls have brought none.
    var milliseconds: Int? {
        since.map { max(0, Int((Self.longest - (ContinuousClock.now - $0)) / .milliseconds(1))) }
    }

    /// The time after which a writer looks up though no call came: once they are due, or when leases are to be renewed; nil for
    /// never.
    func wait(orRenewing interval: Int?) -> Int? { [interval, milliseconds].compactMap { $0 }.min() }

    var isDue: Bool { milliseconds == 0 }
    var isEmpty: Bool { held.isEmpty }

    /// Takes in what the calls of a transaction measured, and counts it; gives what it is to add to the rows.
    mutating func exchange(_ gathered: GatheredMeasurements.Content) -> Measurements {
        held.count(.journalCommits, [])
        if gathered.endsJob || isDue { return takeAll(with: gathered.measured) }
        var prompt = gathered.measured
        let lagging = prompt.takeLagging()
        if !lagging.isEmpty {
            held.add(lagging)
            since = since ?? ContinuousClock.now
        }
        return prompt
    }

    /// Gives all there is, and what a transaction is to add.
    mutating func takeAll(with measured: Measurements = Measurements()) -> Measurements {
        defer { self = LaggingMeasurements() }
        held.add(measured)
        return held
    }

    /// Keeps how long a transaction took; that is no reason for another one.
    mutating func observe(_ duration: Duration) { held.observe(.journalCommit, [], duration / .seconds(1)) }

    /// Waits for another second: they could not be written.
    mutating func postpone() { since = ContinuousClock.now }
}
