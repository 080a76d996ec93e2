import JSONPath
import PipelineCore
import PipelineSQL
import PipelineSQLite
import Synchronization

/// The rows of metrics that one process knows: each is looked up once.
final class KnownMetrics: Sendable {
    private struct State {
        var names: Set<[String]> = []
        var rows: [Measurements.Series: Int64] = [:]
    }

    private let state = Mutex(State())
    private static let limit = 4096

    func contains(_ label: String, _ name: String) -> Bool { state.withLock { $0.names.contains([label, name]) } }

    func insert(_ label: String, _ name: String) { state.withLock { _ = $0.names.insert([label, name]) } }

    /// The number of a series' row.
    func row(of series: Measurements.Series) -> Int64? { state.withLock { $0.rows[series] } }

    func insert(_ row: Int64, of series: Measurements.Series) {
        state.withLock { state in
            // Pipelines may have any number of names.
            if state.rows.count >= Self.limit { state.rows = [:] }
            state.rows[series] = row
        }
    }
}

extension JobRows<SQLiteConnection> {
    /// Adds what was measured, once for all calls of a transaction, to what is kept.
    func insert(_ measured: Measurements) throws(JournalFailure) {
        var hasMade = false
        for (series, sum) in measured.sums {
            if let row = known.row(of: series) {
                try add(sum, to: row)
                continue
            }
            let values: SQLValues = [
                "metric": series.metric.rawValue, "labels": try labels(of: series), "bucket": series.bucket,
            ]
            let sql: StaticString =
                "SELECT number FROM metrics WHERE metric = :metric AND labels = :labels AND bucket = :bucket"
            if let row = try first(sql, values, { $0.integer("number") }) {
                // A row that this transaction makes is gone if it is rolled back, and its number may be another's then.
                if !hasMade { known.insert(row, of: series) }
                try add(sum, to: row)
            } else {
                hasMade = true
                try run(
                    "INSERT INTO metrics (metric, labels, bucket, count, sum) VALUES (:metric, :labels, :bucket, 0, 0)",
                    values)
                try add(sum, to: connection.lastInsertedRow)
            }
        }
    }

    private func add(_ sum: Measurements.Sum, to row: Int64) throws(JournalFailure) {
        try run(
            "UPDATE metrics SET count = count + :count, sum = sum + :sum WHERE number = :row",
            ["count": sum.count, "sum": sum.sum, "row": row])
    }
}

extension JobRows {
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
        if known.contains(label, name) { return true }
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
        known.insert(label, name)
        return true
    }
}

extension JournalAccess {
    fileprivate func isNamed(_ values: SQLValues) throws(JournalFailure) -> Bool {
        try first("SELECT 1 AS one FROM metric_names WHERE label = :label AND name = :name", values) { _ in true }
            ?? false
    }
}

extension MetricNames {
    /// The labels whose names are limited.
    static let limited: Set<String> = ["pipeline", "service"]
}
