import PipelineCore

/// The jobs that nobody has and of which somebody is still to be told, as one worker's looks find them.
///
/// Who ends a job lets it go, and takes it once more to tell of that. What one look alone finds may be in between, and would
/// be told of twice.
struct UntoldJobs {
    private var found: [JobID: Duration] = [:]
    /// For longer than this nobody who has ended a job tells of it.
    private static let telling = Duration.seconds(6)

    /// Takes in what a look finds, and returns those that nobody else tells of.
    ///
    /// - Parameter now: the time of the look on a clock that never goes back.
    mutating func left(of latest: [JobID], at now: Duration) -> [JobID] {
        let before = found
        found = Dictionary(uniqueKeysWithValues: latest.map { ($0, before[$0] ?? now) })
        return latest.filter { now - (before[$0] ?? now) >= Self.telling }
    }
}
