/// The text formats in which metrics are given out.
package enum MetricsFormat: Sendable, Hashable {
    /// Prometheus' text format 0.0.4 (https://prometheus.io/docs/instrumenting/exposition_formats/).
    case prometheus
    /// OpenMetrics 1.0 (https://prometheus.io/docs/specs/om/open_metrics_spec/).
    case openMetrics

    /// The one that a request's `Accept` prefers (RFC 9110, section 12.5.1); Prometheus' where it says nothing of either.
    package init(accept: String?) {
        var best: (format: MetricsFormat, quality: Double) = (.prometheus, 0)
        for range in (accept ?? "").lowercased().split(separator: ",") {
            let parts = range.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
            let quality = parts.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) } ?? 1
            let format: MetricsFormat
            switch parts.first {
            case "application/openmetrics-text": format = .openMetrics
            case "text/plain", "text/*", "*/*": format = .prometheus
            default: continue
            }
            if quality > best.quality { best = (format, quality) }
        }
        self = best.format
    }

    /// The media type of the body.
    package var contentType: String {
        switch self {
        case .prometheus: "text/plain; version=0.0.4; charset=utf-8"
        case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
        }
    }
}
