import PipelineCore

extension MetricFamily {
    /// A family of what the journal keeps.
    init(_ metric: Metric, _ measured: [Measurements.Series: Measurements.Sum], _ gauges: [MetricGauge]) {
        switch metric.kind {
        case .gauge:
            let samples = gauges.sorted { $0.labels.lexicographicallyPrecedes($1.labels) }
            self.init(metric, .gauge, samples.map { Sample(labels: Self.named(metric, $0.labels), value: $0.value) })
        case .counter:
            let sorted = measured.sorted { $0.key.labels.lexicographicallyPrecedes($1.key.labels) }
            self.init(
                metric, .counter,
                sorted.map { series, sum in
                    // Money that was added up has no more digits than what it was added up of.
                    let value = metric == .cost ? Amount(sum.sum).double : sum.sum
                    return Sample(labels: Self.named(metric, series.labels), value: value)
                })
        case .histogram(let bounds):
            let series = Dictionary(grouping: measured, by: \.key.labels)
            let sorted = series.sorted { $0.key.lexicographicallyPrecedes($1.key) }
            self.init(
                metric, .histogram,
                sorted.flatMap { labels, sums in
                    Self.histogram(Self.named(metric, labels), bounds, sums.map { ($0.key.bucket, $0.value) })
                })
        }
    }

    private init(_ metric: Metric, _ kind: Kind, _ samples: [Sample]) {
        self.init(name: metric.rawValue, kind: kind, help: metric.help, samples: samples)
    }

    private static func named(_ metric: Metric, _ values: [String]) -> [(name: String, value: String)] {
        zip(metric.labels, values).map { (name: $0, value: $1) }
    }

    /// Cumulative buckets, as both formats want them.
    private static func histogram(
        _ labels: [(name: String, value: String)], _ bounds: [Double], _ sums: [(Int, Measurements.Sum)]
    ) -> [Sample] {
        var counts = [Double](repeating: 0, count: bounds.count + 1)
        var sum = 0.0
        // In one order: rounded sums of what only grows never fall then, as they do when the order is another each time.
        for (bucket, one) in sums.sorted(by: { $0.0 < $1.0 }) {
            // A later version may have had more bounds.
            counts[min(bucket, bounds.count)] += one.count
            sum += one.sum
        }
        var total = 0.0
        var samples: [Sample] = []
        for (count, bound) in zip(counts, bounds.map { "\($0)" } + ["+Inf"]) {
            total += count
            samples.append(Sample(suffix: "_bucket", labels: labels + [(name: "le", value: bound)], value: total))
        }
        samples.append(Sample(suffix: "_sum", labels: labels, value: sum))
        samples.append(Sample(suffix: "_count", labels: labels, value: total))
        return samples
    }
}
