/// Sums that were measured and are to be added to those that the journal keeps, by series.
public struct Measurements: Sendable, Hashable {
    /// One number of a metric: of its labels' values, and of one bucket where it is a histogram.
    package struct Series: Sendable, Hashable {
        package let metric: Metric
        /// The labels' values, in the order of ``Metric/labels``.
        package let labels: [String]
        /// The place of the bucket among the metric's bounds, one past the last for what is larger; 0 of a counter.
        package let bucket: Int

        package init(_ metric: Metric, _ labels: [String], bucket: Int = 0) {
            self.metric = metric
            self.labels = labels
            self.bucket = bucket
        }
    }

    /// The number of times that something was observed, and the sum of what was; of a counter the sum is all.
    package struct Sum: Sendable, Hashable {
        package var count: Double
        package var sum: Double

        package init(count: Double, sum: Double) {
            self.count = count
            self.sum = sum
        }

        fileprivate mutating func add(_ other: Sum) {
            count += other.count
            sum += other.sum
        }
    }

    package private(set) var sums: [Series: Sum] = [:]

    package init() {}

    package var isEmpty: Bool { sums.isEmpty }

    /// Adds to a counter; what is not above zero adds nothing.
    package mutating func count(_ metric: Metric, _ labels: [String], by amount: Double = 1) {
        guard amount > 0 else { return }
        add(Sum(count: 1, sum: amount), to: Series(metric, labels))
    }

    /// Adds an observation to a histogram, in the metric's unit; one below zero, of a clock that was set, counts as zero.
    package mutating func observe(_ metric: Metric, _ labels: [String], _ value: Double) {
        guard case .histogram(let bounds) = metric.kind else { return }
        let value = value.isFinite ? max(0, value) : 0
        let bucket = bounds.firstIndex { value <= $0 } ?? bounds.count
        add(Sum(count: 1, sum: value), to: Series(metric, labels, bucket: bucket))
    }

    /// Adds all that others have measured.
    package mutating func add(_ other: Measurements) {
        if sums.isEmpty { return sums = other.sums }
        for (series, sum) in other.sums { add(sum, to: series) }
    }

    /// Adds to one number.
    package mutating func add(_ sum: Sum, to series: Series) {
        sums[series, default: Sum(count: 0, sum: 0)].add(sum)
    }
}
