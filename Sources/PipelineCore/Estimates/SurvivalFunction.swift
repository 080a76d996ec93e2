/// The probability of taking longer than a time, and the times that belong to probabilities, found by few calls of it.
struct SurvivalFunction {
    /// The logarithm of a number of seconds beyond which next to nothing lies.
    let end: Double
    /// The probability that it takes longer than so many seconds; it falls as they grow.
    let probability: (Double) -> Double

    /// How many steps a table of quantiles has: each is a twentieth of the spread.
    private static let steps = 64

    /// The seconds that are not exceeded with the probability, given that it takes longer than `elapsed`.
    func quantile(_ share: Double, after elapsed: Double) -> Double {
        quantile(share, after: elapsed, alive: probability(elapsed))
    }

    private func quantile(_ share: Double, after elapsed: Double, alive: Double) -> Double {
        // Beyond all that was ever expected the end is as far away as the beginning is.
        guard alive > 1e-9 else { return elapsed * (1 + share) }
        let target = alive * (1 - min(max(share, 0), 1 - 1e-9))
        var low = Normal.logarithm(max(elapsed, 1e-4))
        var high = max(low, end) + 0.1
        for _ in 0..<50 where high - low > 1e-6 {
            let middle = (low + high) / 2
            if probability(Normal.exponential(middle)) > target { low = middle } else { high = middle }
        }
        return max(elapsed, Normal.exponential((low + high) / 2))
    }

    /// The quantiles of so many evenly spaced shares, in order: the first and the last are searched, those between are
    /// read from a table, so that fifty cost what five do.
    func quantiles(_ count: Int, after elapsed: Double) -> [Double] {
        let shares = (0..<count).map { (Double($0) + 0.5) / Double(count) }
        let alive = probability(elapsed)
        guard let least = shares.first, let most = shares.last, alive > 1e-9 else {
            return shares.map { quantile($0, after: elapsed, alive: alive) }
        }
        let low = Normal.logarithm(quantile(least, after: elapsed, alive: alive))
        let step = (Normal.logarithm(quantile(most, after: elapsed, alive: alive)) - low) / Double(Self.steps)
        func seconds(_ place: Double) -> Double { Normal.exponential(low + step * place) }
        let passed = (0...Self.steps).map { 1 - probability(seconds(Double($0))) / alive }
        var place = 0
        return shares.map { share in
            while place < Self.steps - 1, passed[place + 1] < share { place += 1 }
            let width = passed[place + 1] - passed[place]
            let part = width > 0 ? min(max((share - passed[place]) / width, 0), 1) : 0
            return max(elapsed, seconds(Double(place) + part))
        }
    }
}
