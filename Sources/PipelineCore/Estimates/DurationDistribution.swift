/// A distribution of a whole duration in seconds: a mixture of lognormals.
///
/// It is what past durations give when each is smoothed in log time (kernel density estimation; Silverman, "Density
/// Estimation for Statistics and Data Analysis", 1986, section 2.4), together with what an author guessed.
package struct DurationDistribution: Sendable, Hashable {
    struct Part: Sendable, Hashable {
        var weight: Double
        var shape: Lognormal
    }

    /// Weights sum to 1; never empty.
    private(set) var parts: [Part]

    init(parts: [Part]) {
        let sum = parts.reduce(0) { $0 + $1.weight }
        self.parts = parts.map { Part(weight: $0.weight / sum, shape: $0.shape) }
    }

    /// One lognormal.
    package init(median: Double, spread: Double) {
        self.init(parts: [Part(weight: 1, shape: Lognormal(median: median, spread: spread))])
    }

    /// The probability that it takes longer.
    package func survival(_ seconds: Double) -> Double {
        parts.reduce(0) { $0 + $1.weight * $1.shape.survival(seconds) }
    }

    /// The seconds that are not exceeded with the probability, given that it takes longer than `elapsed` (conditioning
    /// of the survival function; Kleinbaum and Klein, "Survival Analysis", 2012, chapter 1).
    package func quantile(_ share: Double, after elapsed: Double = 0) -> Double {
        let alive = survival(elapsed)
        // Beyond all that was ever expected the end is as far away as the beginning is.
        guard alive > 1e-9 else { return elapsed * (1 + share) }
        let target = alive * (1 - min(max(share, 0), 1 - 1e-9))
        var low = Normal.logarithm(max(elapsed, 1e-4))
        var high = max(low, parts.map { $0.shape.center + 7 * $0.shape.spread }.max() ?? 0) + 0.1
        for _ in 0..<50 where high - low > 1e-6 {
            let middle = (low + high) / 2
            if survival(Normal.exponential(middle)) > target { low = middle } else { high = middle }
        }
        return max(elapsed, Normal.exponential((low + high) / 2))
    }

    /// Returns the same place, less surely: the standard deviation of the logarithm grows by as much.
    func widened(by doubt: Double) -> DurationDistribution {
        guard doubt > 0 else { return self }
        return DurationDistribution(
            parts: parts.map { part in
                let spread = (part.shape.spread * part.shape.spread + doubt * doubt).squareRoot()
                return Part(weight: part.weight, shape: Lognormal(center: part.shape.center, spread: spread))
            })
    }

    /// Another distribution added with a weight between 0 and 1.
    func mixed(with other: DurationDistribution, weight: Double) -> DurationDistribution {
        DurationDistribution(
            parts: parts.map { Part(weight: $0.weight * (1 - weight), shape: $0.shape) }
                + other.parts.map { Part(weight: $0.weight * weight, shape: $0.shape) })
    }
}
