/// A distribution by some of its quantiles: durations that follow one another are added, those next to one another give
/// the longest. Independence is assumed.
struct QuantileSketch: Sendable, Hashable {
    /// Seconds at evenly spaced probabilities, in order.
    private let points: [Double]

    /// So many that the last stands for 99 of 100.
    private static let count = 50

    static let zero = QuantileSketch(points: Array(repeating: 0, count: count))

    private init(points: [Double]) { self.points = points }

    /// A duration that is known.
    init(seconds: Double) { points = Array(repeating: max(0, seconds), count: Self.count) }

    init(_ estimate: Estimate) {
        points = estimate.quantiles(Self.count)
    }

    /// The one after the other.
    static func + (left: QuantileSketch, right: QuantileSketch) -> QuantileSketch { left.combined(right, +) }

    /// Both at a time.
    func beside(_ other: QuantileSketch) -> QuantileSketch { combined(other, max) }

    private func combined(_ other: QuantileSketch, _ work: (Double, Double) -> Double) -> QuantileSketch {
        if self == .zero { return other }
        if other == .zero { return self }
        let all = points.flatMap { first in other.points.map { work(first, $0) } }.sorted()
        return QuantileSketch(
            points: (0..<Self.count).map { all[Int((Double($0) + 0.5) * Double(all.count) / Double(Self.count))] })
    }

    /// Between the points by a line.
    func quantile(_ share: Double) -> Double {
        let place = min(max(share * Double(Self.count) - 0.5, 0), Double(Self.count - 1))
        let low = Int(place)
        let high = min(low + 1, Self.count - 1)
        return points[low] + (points[high] - points[low]) * (place - Double(low))
    }
}
