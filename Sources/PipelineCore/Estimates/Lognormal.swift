/// A lognormal distribution of seconds: the logarithm is normal.
struct Lognormal: Sendable, Hashable {
    /// The natural logarithm of the median.
    var center: Double
    /// The standard deviation of the logarithm.
    var spread: Double

    init(center: Double, spread: Double) {
        self.center = center
        self.spread = max(spread, 0.01)
    }

    init(median: Double, spread: Double) {
        self.init(center: Normal.logarithm(max(median, 0.001)), spread: spread)
    }

    /// The probability of more than the seconds whose natural logarithm is given.
    func survival(ofLogarithm logarithm: Double) -> Double { Normal.cumulative((center - logarithm) / spread) }
}
