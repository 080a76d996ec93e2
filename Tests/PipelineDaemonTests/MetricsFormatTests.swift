import PipelineCore
import Testing

@testable import PipelineMetrics

@Suite("The format of metrics")
struct MetricsFormatTests {
    @Test(
        "is the one that the request prefers",
        arguments: [
            (nil, MetricsFormat.prometheus), ("*/*", .prometheus), ("text/plain", .prometheus),
            ("text/html", .prometheus), ("application/openmetrics-text", .openMetrics),
            // What Prometheus 2.42 sends.
            (
                "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
                    + "text/plain;version=0.0.4;q=0.5,*/*;q=0.1", .openMetrics
            ),
            ("application/openmetrics-text;q=0.2, text/plain;q=0.9", .prometheus),
            ("application/openmetrics-text;q=0", .prometheus),
        ])
    func negotiated(accept: String?, format: MetricsFormat) {
        #expect(MetricsFormat(accept: accept) == format)
    }

    /// It was 155.59999999999997.
    @Test("the money that jobs have cost has no more digits than their costs")
    func cost() {
        let sum = Array(repeating: 0.1, count: 1556).reduce(0, +)
        let measured = [Measurements.Series(.cost, ["selfie"]): Measurements.Sum(count: 1556, sum: sum)]
        #expect(sum != 155.6)
        #expect(MetricFamily(.cost, measured, []).samples.map(\.value) == [155.6])
    }

    /// The buckets were added in the order of a hash table. The sum fell by its last bit from one page to the next, and
    /// Prometheus takes any fall for a new beginning.
    @Test("the sum of a histogram is that of its buckets in their order, whatever order a hash has")
    func sumOrder() {
        // A one that is added to the first is lost, two that are added before are not.
        let sums = [1e16] + Array(repeating: 1.0, count: 11)
        var measured: [Measurements.Series: Measurements.Sum] = [:]
        for number in 0..<50 {
            for (bucket, sum) in sums.enumerated() {
                let series = Measurements.Series(.requestDuration, ["s\(number)", "GET", "2xx"], bucket: bucket)
                measured[series] = Measurements.Sum(count: 1, sum: sum)
            }
        }
        let found = MetricFamily(.requestDuration, measured, []).samples.filter { $0.suffix == "_sum" }
        #expect(found.count == 50 && found.allSatisfy { $0.value == 1e16 })
    }
}
