/// Past durations made into a distribution that follows drifts and jumps.
///
/// Each is a lognormal kernel; newer ones weigh more. When the last ones all lie far from those before, the older ones
/// are as good as forgotten: a service that has become slower is believed after two jobs, not after twenty.
struct PastDurations {
    /// Logarithms, oldest first.
    private let logarithms: [Double]

    init(_ durations: [Double]) { logarithms = durations.map { Normal.logarithm(max($0, 0.001)) } }

    /// After so many further jobs a duration weighs half.
    private static let halfLife = 16.0

    /// Nil without any.
    var distribution: DurationDistribution? {
        guard let last = logarithms.last else { return nil }
        if logarithms.count == 1 {
            return DurationDistribution(parts: [.init(weight: 1, shape: Lognormal(center: last, spread: 0.4))])
        }
        let weights = weights
        let scale = scale(weights)
        let effective = effectiveCount(weights)
        // Silverman's rule in log time, wider while there are few.
        let width = max(0.02, 1.06 * scale * power(effective, -0.2)) * (1 + 1 / effective)
        // A kernel widens the whole; drawing the centres in keeps its variance right (Jones, 1991).
        let shrink = 1 / (1 + width * width / max(scale * scale, 1e-6)).squareRoot()
        let total = weights.reduce(0, +)
        let mean = zip(logarithms, weights).reduce(0) { $0 + $1.0 * $1.1 } / total
        let inflated = width * (1 + 1.5 / effective)
        return DurationDistribution(
            parts: zip(logarithms, weights).filter { $0.1 > 1e-4 }.map { value, weight in
                .init(weight: weight, shape: Lognormal(center: mean + (value - mean) * shrink, spread: inflated))
            })
    }

    private var weights: [Double] {
        let count = logarithms.count
        let jump = jump
        return logarithms.indices.map { index in
            let age = Double(count - 1 - index)
            let weight = power(2, -age / Self.halfLife)
            return index < jump ? weight * 0.05 : weight
        }
    }

    /// The place from which on all durations are of another kind than those before; 0 when there is no such place.
    private var jump: Int {
        let count = logarithms.count
        var found = 0
        guard count >= 6 else { return 0 }
        for place in max(4, count - 24)..<(count - 1) {
            let before = logarithms[max(0, place - 20)..<place].sorted()
            let after = logarithms[place...].sorted()
            let middle = before[before.count / 2]
            let deviation = max(before.map { abs($0 - middle) }.sorted()[before.count / 2] * 1.4826, 0.05)
            let distance = after[after.count / 2] - middle
            // The standard error of the difference of two medians; far beyond chance, and of practical size.
            let error = deviation * 1.25 * (1 / Double(after.count) + 1 / Double(before.count)).squareRoot()
            let isOneSided = after.count > 3 || after.allSatisfy { ($0 > middle) == (distance > 0) }
            if abs(distance) > 3.2 * error, abs(distance) > 0.25, isOneSided { found = place }
            if found != 0 { break }
        }
        return found
    }

    /// The spread of the durations: the smaller of the standard deviation and what the quartiles say, so that few
    /// outliers do not widen all the rest (Silverman, section 3.4.1).
    private func scale(_ weights: [Double]) -> Double {
        let total = weights.reduce(0, +)
        let mean = zip(logarithms, weights).reduce(0) { $0 + $1.0 * $1.1 } / total
        let variance = zip(logarithms, weights).reduce(0) { $0 + $1.1 * ($1.0 - mean) * ($1.0 - mean) } / total
        let quartiles = (quantile(0.75, weights) - quantile(0.25, weights)) / 1.349
        return max(min(variance.squareRoot(), quartiles > 0 ? quartiles : .infinity), 0.03)
    }

    private func quantile(_ share: Double, _ weights: [Double]) -> Double {
        let sorted = zip(logarithms, weights).sorted { $0.0 < $1.0 }
        let total = weights.reduce(0, +)
        var below = 0.0
        for (value, weight) in sorted {
            below += weight
            if below >= share * total { return value }
        }
        return sorted.last?.0 ?? 0
    }

    /// How many equally weighted durations the weights are worth (Kish, 1965).
    private func effectiveCount(_ weights: [Double]) -> Double {
        let sum = weights.reduce(0, +)
        return sum * sum / weights.reduce(0) { $0 + $1 * $1 }
    }

    private func power(_ base: Double, _ exponent: Double) -> Double {
        Normal.exponential(exponent * Normal.logarithm(base))
    }
}
