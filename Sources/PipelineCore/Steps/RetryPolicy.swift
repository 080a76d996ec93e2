/// The rule by which a failed attempt is repeated: the document's `retry`, its defaults included.
package struct RetryPolicy: Sendable, Hashable {
    /// The way in which the delay is spread so that many clients do not return at one moment.
    package enum Jitter: String, Sendable, Hashable, CaseIterable {
        /// Uniform between zero and the delay ("full jitter", Brooker, AWS Architecture Blog, 2015).
        case full
        /// The delay itself.
        case none
    }

    /// The number of answers that may fail since the last progress before the step fails.
    package var attempts: Int
    /// The time for which attempts may go on failing since the last progress.
    package var duration: Duration
    /// The delay before the first repetition.
    package var delay: Duration
    /// By what the delay grows with each further one.
    package var factor: Double
    /// The longest delay.
    package var maximum: Duration
    package var jitter: Jitter
    /// Statuses of answers that are worth another try.
    package var statuses: [Int]

    /// Statuses that are worth another try where the document says nothing.
    private static let usualStatuses = [408, 425, 429, 500, 502, 503, 504]

    package init(
        attempts: Int = 5, duration: Duration = .seconds(86_400), delay: Duration = .seconds(1), factor: Double = 2,
        maximum: Duration = .seconds(300), jitter: Jitter = .full,
        statuses: [Int] = usualStatuses
    ) {
        self.attempts = attempts
        self.duration = duration
        self.delay = delay
        self.factor = factor
        self.maximum = maximum
        self.jitter = jitter
        self.statuses = statuses
    }

    /// Returns whether the document names a status beyond the usual ones. Its author knows then what it means at the
    /// service: that the request was not taken. A list that repeats the usual ones says no such thing of these: of a submit
    /// that was answered with 502 nobody knows what became of it.
    package func namesExpressly(_ status: Int) -> Bool {
        statuses.contains(status) && !Self.usualStatuses.contains(status)
    }

    /// The delay after the given number of failed attempts in a row (from 1).
    ///
    /// `floor` is a server's Retry-After (RFC 9110, section 10.2.3): never less than it, spread only upward. One that is
    /// shorter than the delay without it, as zero is, changes nothing.
    /// `random` is uniform in 0..<1.
    package func delay(afterFailures count: Int, floor: Duration?, random: Double) -> Duration {
        let grown = delay.seconds * power(factor, max(0, count - 1))
        let capped = min(grown, maximum.seconds)
        let spread = jitter == .full ? capped * random : capped
        guard let floor else { return .seconds(max(spread, 0.01)) }
        return .seconds(max(floor.seconds + spread * 0.1, spread))
    }

    private func power(_ base: Double, _ exponent: Int) -> Double {
        var result = 1.0
        for _ in 0..<min(exponent, 64) { result *= base }
        return result
    }
}
