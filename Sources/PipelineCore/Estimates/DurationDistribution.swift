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
    let parts: [Part]

    /// Those of the first one's spread, where they are many; a kernel density has no others.
    private let table: KernelTable?
    /// The parts that are not in the table.
    private let others: [Part]

    /// So few parts cost less than a table of them.
    private static let few = 8

    init(parts: [Part]) {
        let sum = parts.reduce(0) { $0 + $1.weight }
        let parts = parts.map { Part(weight: $0.weight / sum, shape: $0.shape) }
        let spread = parts.first?.shape.spread ?? 0
        let alike = parts.filter { $0.shape.spread == spread }
        self.parts = parts
        table = alike.count > Self.few ? KernelTable(alike, spread: spread) : nil
        others = table == nil ? parts : parts.filter { $0.shape.spread != spread }
    }

    /// One lognormal.
    package init(median: Double, spread: Double) {
        self.init(parts: [Part(weight: 1, shape: Lognormal(median: median, spread: spread))])
    }

    /// The probability that it takes longer.
    package func survival(_ seconds: Double) -> Double {
        guard seconds > 0 else { return 1 }
        let logarithm = Normal.logarithm(seconds)
        var sum = table?.survival(ofLogarithm: logarithm) ?? 0
        for part in others { sum += part.weight * part.shape.survival(ofLogarithm: logarithm) }
        return sum
    }

    /// The seconds that are not exceeded with the probability, given that it takes longer than `elapsed` (conditioning
    /// of the survival function; Kleinbaum and Klein, "Survival Analysis", 2012, chapter 1).
    package func quantile(_ share: Double, after elapsed: Double = 0) -> Double {
        function.quantile(share, after: elapsed)
    }

    /// The quantiles of so many evenly spaced shares, in order, to a hundredth of their spread.
    func quantiles(_ count: Int, after elapsed: Double) -> [Double] { function.quantiles(count, after: elapsed) }

    private var function: SurvivalFunction {
        SurvivalFunction(end: parts.map { $0.shape.center + 7 * $0.shape.spread }.max() ?? 0, probability: survival)
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
