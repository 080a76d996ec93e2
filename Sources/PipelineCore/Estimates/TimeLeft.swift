public import JSONPath

/// A distribution of the time that something still takes: lognormal, given that it has not ended yet.
///
/// A service's own "seconds left" and an author's guess are medians of such a distribution; how wide it is says how
/// far they are trusted. Quantiles of the time left follow from those of the whole duration by conditioning on the
/// time that has passed (survival function; Kleinbaum and Klein, "Survival Analysis", 2012, chapter 1).
public struct TimeLeft: Sendable, Hashable {
    /// The median of the whole duration, in seconds.
    public let median: Double
    /// The standard deviation of the duration's logarithm.
    public let spread: Double
    /// Seconds that have passed.
    public let elapsed: Double

    public init(median: Double, spread: Double, elapsed: Double = 0) {
        self.median = max(median, 0.001)
        self.spread = max(spread, 0.01)
        self.elapsed = max(elapsed, 0)
    }

    /// What an author's guess of a duration says after some of it has passed; guesses are rough.
    public static func guessed(_ duration: Double, elapsed: Double) -> TimeLeft {
        TimeLeft(median: duration, spread: 0.5, elapsed: elapsed)
    }

    /// What a service says is left.
    public static func reported(_ seconds: Double) -> TimeLeft { TimeLeft(median: seconds, spread: 0.3) }

    /// The seconds left that are not exceeded with probability `share`.
    public func quantile(_ share: Double) -> Double {
        let passed = elapsed == 0 ? 0 : Normal.cumulative(Normal.logarithm(elapsed / median) / spread)
        let target = min(passed + share * (1 - passed), 1 - 1e-9)
        return max(0, median * Normal.exponential(spread * Normal.quantile(target)) - elapsed)
    }

    /// The data of `estimate.changed`.
    public var data: JSONObject {
        func seconds(_ share: Double) -> JSON { .number(JSONNumber((quantile(share) * 10).rounded() / 10)) }
        return ["p50": seconds(0.5), "p90": seconds(0.9), "p99": seconds(0.99)]
    }
}
