/// Sums that were measured and are to be added to those that the journal keeps, by series.
///
/// They are carried as a list: who measures, and who passes it on, looks nothing up. Only one who has many adds those of
/// a series together.
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

    private struct Entry: Sendable, Hashable {
        var series: Series
        var sum: Sum
    }

    private var entries: [Entry] = []
    /// The number of entries from the first on that are of a series each.
    private var distinct = 0
    /// So many more entries are kept as they came.
    private static let slack = 32

    package init() {}

    package var isEmpty: Bool { entries.isEmpty }

    /// All that was measured, by series.
    package var sums: [Series: Sum] {
        entries.reduce(into: [:]) { $0[$1.series, default: Sum(count: 0, sum: 0)].add($1.sum) }
    }

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
        if entries.isEmpty { return self = other }
        entries += other.entries
        joinIfMany()
    }

    /// Adds to one number.
    package mutating func add(_ sum: Sum, to series: Series) {
        entries.append(Entry(series: series, sum: sum))
        joinIfMany()
    }

    /// Takes out what may be written later than the rest: see ``Metric/mayLag``.
    package mutating func takeLagging() -> Measurements {
        var lagging = Measurements()
        lagging.entries = entries.filter { $0.series.metric.mayLag }
        if !lagging.isEmpty { (entries, distinct) = (entries.filter { !$0.series.metric.mayLag }, 0) }
        return lagging
    }

    private mutating func joinIfMany() {
        guard entries.count > 2 * distinct + Self.slack else { return }
        entries = sums.map { Entry(series: $0.key, sum: $0.value) }
        distinct = entries.count
    }
}
