/// The last change of level in past durations, if there was one: a service became slower or faster and stayed so.
///
/// The place is the one that leaves the least sum of absolute deviations from the medians before and after it (Bai, "Least
/// absolute deviation estimation of a shift", Econometric Theory 11, 1995), which few outliers don't move; then the
/// difference of the medians is held against its standard error.
struct LevelChange {
    /// The index of the first duration of the new level; 0 when there is no such place.
    let place: Int
    /// True if the last duration lies far above all that is usual, so that it may be the first of a new level.
    let isLastFarAbove: Bool

    /// So far back is looked for a change.
    private static let reach = 24
    /// So many durations before it say what was usual.
    private static let memory = 20
    /// Changes of less than a quarter are left to the weights.
    private static let smallest = 0.25
    /// In standard errors of the difference.
    private static let threshold = 2.4
    /// In standard deviations.
    private static let far = 3.0

    /// - Parameter logarithms: of the durations, oldest first.
    init(_ logarithms: [Double]) {
        let count = logarithms.count
        guard count >= 6 else {
            (place, isLastFarAbove) = (0, false)
            return
        }
        let start = max(0, count - Self.reach - Self.memory)
        let places = max(4, count - Self.reach)..<(count - 1)
        let costs = places.map { Level(logarithms[start..<$0]).cost + Level(logarithms[$0...]).cost }
        let best = places.lowerBound + (costs.indices.min { costs[$0] < costs[$1] } ?? 0)
        let isChange = Self.isChange(at: best, in: logarithms)
        place = isChange ? best : 0
        let usual = Level(logarithms[max(0, count - 1 - Self.memory)..<(count - 1)])
        let distance = logarithms[count - 1] - usual.middle
        isLastFarAbove = !isChange && distance > max(Self.far * usual.deviation, Self.smallest)
    }

    private static func isChange(at place: Int, in logarithms: [Double]) -> Bool {
        let before = Level(logarithms[max(0, place - memory)..<place])
        let after = Level(logarithms[place...])
        let distance = after.middle - before.middle
        // Of a median, by the normal distribution: 1.25 times that of a mean.
        let error = before.deviation * 1.25 * (1 / after.count + 1 / before.count).squareRoot()
        // Of two or three each must say so.
        let isOneSided = after.count > 3 || after.sorted.allSatisfy { ($0 > before.middle) == (distance > 0) }
        return distance.magnitude > max(threshold * error, smallest) && isOneSided
    }
}

/// The median of some durations, and how far they lie from it.
private struct Level {
    let sorted: [Double]
    let middle: Double

    init(_ values: ArraySlice<Double>) {
        sorted = values.sorted()
        middle = sorted[sorted.count / 2]
    }

    var count: Double { Double(sorted.count) }
    /// The sum of the absolute deviations.
    var cost: Double { sorted.reduce(0) { $0 + ($1 - middle).magnitude } }
    /// The standard deviation by the median of the absolute ones, which outliers don't move.
    var deviation: Double {
        max(sorted.map { ($0 - middle).magnitude }.sorted()[sorted.count / 2] * 1.4826, 0.05)
    }
}
