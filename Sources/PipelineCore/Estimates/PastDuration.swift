/// The time that one job of a stage took; or, of one that still runs, for how long it is known to have run.
package struct PastDuration: Sendable, Hashable {
    /// Seconds, at least a millisecond.
    package let seconds: Double
    /// True if it has not ended: it takes longer than ``seconds``.
    package let isRunning: Bool

    package init(_ seconds: Double, isRunning: Bool = false) {
        self.seconds = max(seconds, 0.001)
        self.isRunning = isRunning
    }

    var logarithm: Double { Normal.logarithm(seconds) }
}

/// The durations that running jobs may still have.
///
/// A lognormal is fitted to those that ended and those that run, which are censored: by expectation and maximisation
/// (Dempster, Laird and Rubin, 1977, section 4.3), so that what runs pulls it up. Each running job is then its
/// conditional quantiles.
struct RunningDurations {
    private var center: Double
    private var spread: Double

    /// As many durations' worth is believed before any was seen of how far they lie apart.
    private static let priorCount = 2.0
    private static let priorSpread = 0.5

    init(_ durations: [PastDuration]) {
        let ended = durations.filter { !$0.isRunning }.map(\.logarithm)
        center = ended.reduce(0, +) / Double(max(ended.count, 1))
        spread = Self.priorSpread
        // Many that run next to few that ended say little more than that it takes long: they move the fit step by step.
        for _ in 0..<30 {
            var (sum, count) = (0.0, 0.0)
            let expected = durations.map { duration -> (value: Double, rest: Double) in
                guard duration.isRunning else { return (duration.logarithm, 0) }
                let distance = (duration.logarithm - center) / spread
                let hazard = Normal.hazard(distance)
                return (center + spread * hazard, max(0, 1 + distance * hazard - hazard * hazard) * spread * spread)
            }
            for item in expected { (sum, count) = (sum + item.value, count + 1) }
            let mean = sum / count
            let variance = expected.reduce(Self.priorCount * Self.priorSpread * Self.priorSpread) {
                $0 + ($1.value - mean) * ($1.value - mean) + $1.rest
            }
            center = mean
            spread = max(0.03, (variance / (count + Self.priorCount)).squareRoot())
        }
    }

    /// Logarithms that one which has run for so long stands for, in order.
    func possible(after logarithm: Double) -> [Double] {
        let alive = 1 - Normal.cumulative((logarithm - center) / spread)
        // So far beyond all the others it says nothing but that it is still there.
        guard alive > 1e-6 else { return [logarithm + 0.05, logarithm + 0.2, logarithm + 0.5] }
        return [1.0 / 6, 0.5, 5.0 / 6].map { max(logarithm, center + spread * Normal.quantile(1 - alive * (1 - $0))) }
    }
}
