/// Past durations made into a distribution that follows drifts and jumps.
///
/// Each is a lognormal kernel; newer ones weigh more. When the level has changed, what was before it is as good as
/// forgotten: a service that has become slower is believed after two or three jobs, not after twenty.
///
/// Jobs that still run count too, or a batch would learn from its short ones alone: each stands for the durations that
/// it may still have, given that it has lasted so long (``RunningDurations``).
struct PastDurations {
    /// Logarithms, oldest first.
    private let logarithms: [Double]
    /// The share of one job that each stands for.
    private let shares: [Double]

    /// - Parameter durations: in the order in which they began.
    init(_ durations: [PastDuration]) {
        guard durations.contains(where: \.isRunning), durations.contains(where: { !$0.isRunning }) else {
            logarithms = durations.lazy.filter { !$0.isRunning }.map(\.logarithm)
            shares = logarithms.map { _ in 1 }
            return
        }
        let running = RunningDurations(durations)
        let parts = durations.flatMap { duration -> [(Double, Double)] in
            guard duration.isRunning else { return [(duration.logarithm, 1)] }
            let possible = running.possible(after: duration.logarithm)
            return possible.map { ($0, 1 / Double(possible.count)) }
        }
        logarithms = parts.map(\.0)
        shares = parts.map(\.1)
    }

    /// After so many further jobs a duration weighs half.
    private static let halfLife = 10.0
    /// The weight that durations from before a change of level still weigh.
    private static let remnant = 0.02
    /// As many durations' worth is known of the spread from before a change of level.
    private static let priorCount = 4.0

    /// Nil without any.
    var distribution: DurationDistribution? {
        guard let last = logarithms.last else { return nil }
        if logarithms.count == 1 {
            return DurationDistribution(parts: [.init(weight: 1, shape: Lognormal(center: last, spread: 0.4))])
        }
        let change = LevelChange(logarithms)
        let weights = weights(change)
        let scale = scale(weights, change)
        let effective = effectiveCount(weights)
        // Silverman's rule in log time, wider while there are few.
        let width = max(0.02, 1.06 * scale * power(effective, -0.2)) * (1 + 1 / effective)
        // A kernel widens the whole; drawing the centres in keeps its variance right (Jones, 1991).
        let shrink = 1 / (1 + width * width / max(scale * scale, 1e-6)).squareRoot()
        let total = weights.reduce(0, +)
        let mean = zip(logarithms, weights).reduce(0) { $0 + $1.0 * $1.1 } / total
        // The next one deviates from a mean that is itself known from few: its variance is added, as for any prediction.
        let inflated = (width * width + scale * scale / effective).squareRoot() * (1 + 2 / effective)
        return DurationDistribution(
            parts: zip(logarithms, weights).filter { $0.1 > 1e-4 }.map { value, weight in
                .init(weight: weight, shape: Lognormal(center: mean + (value - mean) * shrink, spread: inflated))
            })
    }

    private func weights(_ change: LevelChange) -> [Double] {
        let count = logarithms.count
        var weights = [Double](repeating: 0, count: count)
        var later = 0.0
        for index in logarithms.indices.reversed() {
            let age = later + (shares[index] - 1) / 2
            weights[index] = shares[index] * power(2, -age / Self.halfLife) * (index < change.place ? Self.remnant : 1)
            later += shares[index]
        }
        // It may be an outlier or the first of a new level: weighing an eighth it is within p90, and moves p50 little.
        if change.isLastFarAbove { weights[count - 1] = max(1, weights.dropLast().reduce(0, +) * 0.15) }
        return weights
    }

    /// Returns how far durations lie from their level. That is known from before a change of the level too.
    private func scale(_ weights: [Double], _ change: LevelChange) -> Double {
        guard change.place > 0 else { return Self.scale(logarithms[...], weights[...]) }
        let (before, after) = (logarithms[..<change.place], logarithms[change.place...])
        let old = Self.scale(before, before.map { _ in 1 }[...])
        let own = Self.scale(after, after.map { _ in 1 }[...])
        let count = Double(after.count)
        return ((count * own * own + Self.priorCount * old * old) / (count + Self.priorCount)).squareRoot()
    }

    /// The spread of the durations: the smaller of the standard deviation and what the quartiles say, so that few
    /// outliers do not widen all the rest (Silverman, section 3.4.1).
    private static func scale(_ values: ArraySlice<Double>, _ weights: ArraySlice<Double>) -> Double {
        let total = weights.reduce(0, +)
        let mean = zip(values, weights).reduce(0) { $0 + $1.0 * $1.1 } / total
        let variance = zip(values, weights).reduce(0) { $0 + $1.1 * ($1.0 - mean) * ($1.0 - mean) } / total
        let sorted = zip(values, weights).sorted { $0.0 < $1.0 }
        func quantile(_ share: Double) -> Double {
            var below = 0.0
            for (value, weight) in sorted {
                below += weight
                if below >= share * total { return value }
            }
            return sorted.last?.0 ?? 0
        }
        let quartiles = (quantile(0.75) - quantile(0.25)) / 1.349
        return max(min(variance.squareRoot(), quartiles > 0 ? quartiles : .infinity), 0.03)
    }

    /// Returns how many equally weighted durations the weights are worth (Kish, 1965).
    private func effectiveCount(_ weights: [Double]) -> Double {
        let sum = weights.reduce(0, +)
        return sum * sum / weights.reduce(0) { $0 + $1 * $1 }
    }

    private func power(_ base: Double, _ exponent: Double) -> Double {
        Normal.exponential(exponent * Normal.logarithm(base))
    }
}
