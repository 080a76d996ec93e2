import JSONPath
import PipelineCore
import PipelineSQL
import Synchronization

/// Names of labels that are known to have a row: each is looked up once.
final class KnownMetricNames: Sendable {
    private let names = Mutex<Set<[String]>>([])

    func contains(_ label: String, _ name: String) -> Bool { names.withLock { $0.contains([label, name]) } }

    func insert(_ label: String, _ name: String) { names.withLock { _ = $0.insert([label, name]) } }
}

extension JobRows {
    /// Adds what was measured, once for all calls of a transaction, to what is kept.
    func insert(_ measured: Measurements) throws(JournalFailure) {
        for (series, sum) in measured.sums {
            try run(
                """
                INSERT INTO metrics (metric, labels, bucket, count, sum) VALUES (:metric, :labels, :bucket, :count, :sum)
                ON CONFLICT (metric, labels, bucket) DO UPDATE SET count = count + :count, sum = sum + :sum
                """,
                [
                    "metric": series.metric.rawValue, "labels": try labels(of: series), "bucket": series.bucket,
                    "count": sum.count, "sum": sum.sum,
                ])
        }
    }

    func labels(of series: Measurements.Series) throws(JournalFailure) -> String {
        let names = series.metric.labels
        var values = series.labels
        if let label = names.first, MetricNames.limited.contains(label), try !hasName(label, values[0]) {
            for (place, name) in names.enumerated() where MetricNames.limited.contains(name) || name == "stage" {
                values[place] = MetricNames.other
            }
        }
        return JSON.array(values.map { .string($0) }).text
    }

    /// Returns whether the name is among the first ones, or takes a place that is left.
    private func hasName(_ label: String, _ name: String) throws(JournalFailure) -> Bool {
        if metricNames.contains(label, name) { return true }
        let values: SQLValues = ["label": label, "name": name]
        if try !isNamed(values) {
            let added = try change(
                """
                INSERT INTO metric_names (label, name)
                SELECT CAST(:label AS TEXT), CAST(:name AS TEXT)
                WHERE (SELECT count(*) FROM metric_names WHERE label = :label) < :limit
                ON CONFLICT (label, name) DO NOTHING
                """, ["label": label, "name": name, "limit": MetricNames.limit])
            if added == 0, try !isNamed(values) { return false }
        }
        metricNames.insert(label, name)
        return true
    }
}

extension JournalAccess {
    fileprivate func isNamed(_ values: SQLValues) throws(JournalFailure) -> Bool {
        try first("SELECT 1 AS one FROM metric_names WHERE label = :label AND name = :name", values) { _ in true }
            ?? false
    }
}

/// The measurements of calls of one transaction, which are written once for all of them.
final class GatheredMeasurements: Sendable {
    private let measured = Mutex(Measurements())

    var all: Measurements { measured.withLock { $0 } }

    func add(_ other: Measurements) { measured.withLock { $0.add(other) } }
}

extension MetricNames {
    /// The labels whose names are limited.
    static let limited: Set<String> = ["pipeline", "service"]
}
