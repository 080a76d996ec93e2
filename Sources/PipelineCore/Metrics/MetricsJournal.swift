/// A journal that keeps measurements with its commits, so that no counter falls at a restart.
///
/// It adds up what commits bring as `.measured`. Names beyond the first ``MetricNames/limit`` of pipelines, and of services, are
/// kept as `other`, so that a document with a name of its own for each run can't fill a monitoring system.
package protocol MetricsJournal: Sendable {
    /// All that was ever measured.
    func measured() async throws(JournalFailure) -> Measurements
    /// Returns what is true now of the metrics that are gauges.
    func gauges(at now: Timestamp) async throws(JournalFailure) -> [MetricGauge]
}

/// One value of a gauge.
package struct MetricGauge: Sendable, Hashable {
    package let metric: Metric
    /// The labels' values, in the order of ``Metric/labels``.
    package let labels: [String]
    package let value: Double

    package init(_ metric: Metric, _ labels: [String], _ value: Double) {
        self.metric = metric
        self.labels = labels
        self.value = value
    }
}

/// Which names of documents become labels.
package enum MetricNames {
    /// So many pipelines, services and batches have a name of their own.
    package static let limit = 200
    /// The name that all further ones share.
    package static let other = "other"
    /// The service of a stage that names none.
    package static let none = "none"
}
