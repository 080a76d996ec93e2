/// Measures time in which the thread that owns libcurl neither read nor wrote, although it was due to: it did not get to
/// run, or was held up by other work. In such time nobody can be told to have stalled.
struct AbsenceMeter {
    /// A round that takes no longer than this reads and writes all that is there in time.
    static let shortest = Duration.milliseconds(20)

    private var checkedAt: Duration
    /// The part of the time since then that was spent asleep, as intended.
    private var slept = Duration.zero

    init(now: Duration) { checkedAt = now }

    /// Notes a sleep that was to last no longer than `most`.
    mutating func noteSleep(from start: Duration, to end: Duration, most: Duration) {
        slept += min(end - start, most)
    }

    /// Returns how long the thread was away since the last call; zero for what is short.
    mutating func absence(at now: Duration) -> Duration {
        let away = now - checkedAt - slept
        (checkedAt, slept) = (now, .zero)
        return away > Self.shortest ? away : .zero
    }
}
