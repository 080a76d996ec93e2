import PipelineCore

/// What a writer measured, and calls did, that no promise rests on: it is written once a second, with what else is written
/// then, or alone.
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

    var isDue: Bool { milliseconds == 0 }
    var isEmpty: Bool { held.isEmpty }

    /// Takes in what a transaction is to add, and gives what it adds at once: once the second is over, all there is.
    mutating func exchange(_ measured: Measurements) -> Measurements {
        if isDue { return takeAll(with: measured) }
        var prompt = measured
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

    /// Counts a transaction; that is no reason for another one.
    mutating func countCommit(_ duration: Duration) {
        held.count(.journalCommits, [])
        held.observe(.journalCommit, [], duration / .seconds(1))
    }

    /// Waits for another second: they could not be written.
    mutating func postpone() { since = ContinuousClock.now }
}
