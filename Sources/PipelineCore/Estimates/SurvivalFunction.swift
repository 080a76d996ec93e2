/// The probability of taking longer than a time, and the times that belong to probabilities, found by few calls of it.
struct SurvivalFunction {
    /// The logarithm of a number of seconds beyond which next to nothing lies.
    let end: Double
    /// The probability that it takes longer than so many seconds; it falls as they grow.
    let probability: (Double) -> Double

    /// How many steps a table of quantiles has: each is a tenth of the spread.
    private static let steps = 32

    /// The seconds that are not exceeded with the probability, given that it takes longer than `elapsed`.
    func quantile(_ share: Double, after elapsed: Double) -> Double {
        quantile(share, after: elapsed, alive: probability(elapsed))
    }

    /// - Parameter precision: of the logarithm.
    private func quantile(
        _ share: Double, after elapsed: Double, alive: Double, precision: Double = 1e-6
    ) -> Double {
        // Beyond all that was ever expected the end is as far away as the beginning is.
        guard alive > 1e-9 else { return elapsed * (1 + share) }
        let target = alive * (1 - min(max(share, 0), 1 - 1e-9))
        let start = Normal.logarithm(max(elapsed, 1e-4))
        let found = Self.root(between: start, and: max(start, end) + 0.1, precision: precision) {
            probability(Normal.exponential($0)) - target
        }
        return max(elapsed, Normal.exponential(found))
    }

    /// The place at which a falling function is zero: by inverse quadratic interpolation where three points allow it, else by
    /// bisection (Chandrupatla, "A new hybrid quadratic/bisection algorithm for finding the zero of a nonlinear function",
    /// Advances in Engineering Software 28, 1997). It takes half of the calls of bisection alone.
    private static func root(
        between low: Double, and high: Double, precision: Double, of function: (Double) -> Double
    ) -> Double {
        // The zero lies between the newest point and the other; the last is the one that came before these.
        var (newest, other) = (Point(high, function), Point(low, function))
        guard other.value > 0 else { return low }
        guard newest.value < 0 else { return high }
        var share = 0.5
        while true {
            let point = Point(newest.place + share * (other.place - newest.place), function)
            var last = newest
            if (point.value > 0) != (newest.value > 0) { (last, other) = (other, newest) }
            newest = point
            let width = (other.place - newest.place).magnitude
            if point.value == 0 { return point.place }
            if width <= precision { return (point.place + other.place) / 2 }
            share = newest.share(to: other, by: last) ?? 0.5
            let least = precision / width / 2
            share = max(least, min(1 - least, share))
        }
    }

    private struct Point {
        let place: Double
        let value: Double

        init(_ place: Double, _ function: (Double) -> Double) { (self.place, value) = (place, function(place)) }

        /// The share of the way to the other point at which a parabola through three of them is zero; nil where it bends
        /// too much to be believed.
        func share(to other: Point, by last: Point) -> Double? {
            let position = (place - other.place) / (last.place - other.place)
            let height = (value - other.value) / (last.value - other.value)
            guard height * height < position, (1 - height) * (1 - height) < 1 - position else { return nil }
            return value / (other.value - value) * last.value / (other.value - last.value)
                + (last.place - place) / (other.place - place) * value / (last.value - value) * other.value
                / (last.value - other.value)
        }
    }

    /// The quantiles of so many evenly spaced shares, in order: the first and the last are searched, those between are
    /// read from a table, so that fifty cost what five do.
    func quantiles(_ count: Int, after elapsed: Double) -> [Double] {
        let shares = (0..<count).map { (Double($0) + 0.5) / Double(count) }
        let alive = probability(elapsed)
        guard let least = shares.first, let most = shares.last, alive > 1e-9 else {
            return shares.map { quantile($0, after: elapsed, alive: alive) }
        }
        func extreme(_ share: Double) -> Double {
            Normal.logarithm(quantile(share, after: elapsed, alive: alive, precision: 1e-3))
        }
        let low = extreme(least)
        let step = (extreme(most) - low) / Double(Self.steps)
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
