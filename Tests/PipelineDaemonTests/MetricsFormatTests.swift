import PipelineMetrics
import Testing

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
}
