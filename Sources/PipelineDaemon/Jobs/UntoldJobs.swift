import PipelineCore

/// The jobs that nobody has and whose notifications are not all delivered, as one worker's looks find them.
///
/// Who ends a job lets it go, and takes it once more to deliver its notifications. What one look alone finds may be in
/// between, and would be delivered twice.
struct UntoldJobs {
    private var found: [JobID: Duration] = [:]
    /// For longer than this nobody who has ended a job delivers its notifications.
    private static let deliveryTime = Duration.seconds(6)

    /// Takes in what a look finds, and returns those whose notifications nobody else delivers.
    ///
    /// - Parameter now: the time of the look on a clock that never goes back.
    mutating func left(of latest: [JobID], at now: Duration) -> [JobID] {
        let before = found
        found = Dictionary(uniqueKeysWithValues: latest.map { ($0, before[$0] ?? now) })
        return latest.filter { now - (before[$0] ?? now) >= Self.deliveryTime }
    }
}
