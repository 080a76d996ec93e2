import PipelineCore
package import PipelineKit

/// All metrics of a state folder as a page for Prometheus and for whatever reads OpenMetrics.
///
/// Counters come from the journal, so any process may give them out, and they do not fall when it is started again.
package struct MetricsPage: Sendable {
    private let settings: Settings
    private let journal: Workspace.Journal
    private let clock = SystemClock()

    package init(settings: Settings, journal: Workspace.Journal) {
        self.settings = settings
        self.journal = journal
    }

    /// The page as it is now, with its media type; `accept` is the request's header field.
    package func response(accept: String?) async throws(JournalFailure) -> (type: String, body: String) {
        let format = MetricsFormat(accept: accept)
        return (format.contentType, try await text(format))
    }

    /// The page as it is now.
    package func text(_ format: MetricsFormat) async throws(JournalFailure) -> String {
        let measured = Dictionary(grouping: try await journal.measured().sums, by: \.key.metric)
        let gauges = Dictionary(grouping: try await journal.gauges(at: clock.now), by: \.metric)
        var families = [build]
        for metric in Metric.allCases {
            let sums = Dictionary(uniqueKeysWithValues: (measured[metric] ?? []).map { ($0.key, $0.value) })
            families.append(MetricFamily(metric, sums, gauges[metric] ?? []))
        }
        families.append(assertions)
        families += ProcessFigures.families()
        var text = ""
        for family in families { family.write(format, into: &text) }
        if format == .openMetrics { text += "# EOF\n" }
        return text
    }

    private var build: MetricFamily {
        let libraries = LibraryVersions.ofThisProcess
        let labels = [
            (name: "version", value: ProgramVersion.number), (name: "commit", value: ProgramVersion.commit),
            (name: "libcurl", value: libraries.curl), (name: "sqlite", value: libraries.sqlite),
        ]
        return MetricFamily(
            name: "pipeline_build_info", kind: .info, help: "The version of the program and of its libraries.",
            samples: [.init(labels: labels, value: 1)])
    }

    private var assertions: MetricFamily {
        let count = AssertionFiles(settings: settings).count
        return MetricFamily(
            name: "pipeline_assertions_failed_total", kind: .counter,
            help: "Mistakes of the program itself; 'pipeline doctor' lists them.",
            samples: [.init(value: Double(count))])
    }
}
