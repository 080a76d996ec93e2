import JSONPath
import PipelineCore
import PipelinePostgres
import PipelineSQL

/// The rows of what was measured, in the transaction of those of jobs.
struct MeasuredRows {
    let rows: JobRows<PostgresConnection>

    /// Adds what the transaction measured, in one statement, to rows that are the process's own: rows that all shared would
    /// have all wait for each other. A reader sums them up.
    func write(_ measured: Measurements) throws(JournalFailure) {
        let sums = measured.sums
        guard !sums.isEmpty else { return }
        var sorted: [[JSON]] = []
        for (series, sum) in sums {
            sorted.append([
                .string(series.metric.rawValue), .string(try rows.labels(of: series)),
                .number(JSONNumber(series.bucket)),
                .number(JSONNumber(sum.count)), .number(JSONNumber(sum.sum)),
            ])
        }
        try rows.run(
            """
            INSERT INTO metrics (worker, metric, labels, bucket, count, sum)
            SELECT :worker, value ->> 0, value ->> 1, CAST(value ->> 2 AS BIGINT),
                sum(CAST(value ->> 3 AS DOUBLE PRECISION)), sum(CAST(value ->> 4 AS DOUBLE PRECISION))
            FROM json_array_elements(CAST(:rows AS JSON)) AS given (value) GROUP BY 2, 3, 4
            ON CONFLICT (worker, metric, labels, bucket) DO UPDATE
            SET count = metrics.count + excluded.count, sum = metrics.sum + excluded.sum
            """, ["worker": rows.owners.owner.text, "rows": JSON.array(sorted.map { .array($0) })])
    }

    /// Puts what processes measured that are gone into one set of rows.
    func fold() throws(JournalFailure) {
        try rows.connection.serialize("metrics")
        try rows.run(
            """
            WITH gone AS (DELETE FROM metrics
                WHERE worker <> '' AND NOT EXISTS (SELECT 1 FROM workers WHERE id = metrics.worker) RETURNING *)
            INSERT INTO metrics (worker, metric, labels, bucket, count, sum)
            SELECT '', metric, labels, bucket, sum(count), sum(sum) FROM gone GROUP BY metric, labels, bucket
            ON CONFLICT (worker, metric, labels, bucket) DO UPDATE
            SET count = metrics.count + excluded.count, sum = metrics.sum + excluded.sum
            """)
    }
}
