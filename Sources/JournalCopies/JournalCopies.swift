import PipelineSQLite

/// As many jobs as nobody wants to wait for: rows made from those of a few, by the database itself.
package enum JournalCopies {
    /// The jobs that are copied.
    package enum Models: Sendable {
        /// All of them. What has not ended is paused in the copies, so that nobody takes it up.
        case all
        /// Those that have ended.
        case ended

        fileprivate var condition: String {
            switch self {
            case .all: "true"
            case .ended: "ended IS NOT NULL"
            }
        }
    }

    /// Thrown when there is no job to copy.
    package struct NoModel: Error {}

    /// Makes that many copies of jobs in a journal's file, with their steps, without their events: older than all that are
    /// there, and nine tenths of a second apart.
    package static func make(_ count: Int, of models: Models, in file: String) throws {
        let connection = try SQLiteConnection(file, busyTimeout: .seconds(60))
        func number(_ sql: String) throws -> Int { try connection.texts(sql).first.flatMap { Int($0) } ?? 0 }
        let last = try number("SELECT max(number) FROM jobs")
        let known = try number("SELECT count(*) FROM jobs WHERE \(models.condition)")
        guard known > 0 else { throw NoModel() }
        // A quarter of an hour more than the copies span.
        let age = (count + 1000) * 900
        try connection.execute(
            """
            BEGIN IMMEDIATE;
            CREATE TEMP TABLE models AS SELECT row_number() OVER (ORDER BY number) - 1 AS place, number
                FROM jobs WHERE \(models.condition);
            CREATE TEMP TABLE copies AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
                SELECT i, models.number AS source, \(last) + i AS number FROM n
                    JOIN models ON models.place = i % \(known);
            INSERT INTO jobs (number, id, key, pipeline, started, document, source_name, inputs, environment,
                    document_folder, output_folder, overwrites, mode, cause, ended, epoch, found_secrets, outcome)
                SELECT copies.number, printf('01h%07d', i) || substr(id, 11), 'many-' || i, pipeline,
                    started - \(age) + i * 900, document, source_name, inputs, environment,
                    document_folder, output_folder, overwrites, mode, CASE WHEN ended IS NULL THEN 'paused' END,
                    ended - \(age) + i * 900, 1, found_secrets, outcome
                FROM copies JOIN jobs ON jobs.number = source;
            INSERT INTO steps (job, stage, item, state, detail, checkpoint, captures, started, ended, attempts, resumes,
                    bytes_sent, bytes_received, tolerates_failure, value, version, expires)
                SELECT copies.number, stage, item, state, detail, checkpoint, captures, started, ended, attempts, resumes,
                    bytes_sent, bytes_received, tolerates_failure, value, version, expires
                FROM copies JOIN steps ON steps.job = source;
            COMMIT;
            ANALYZE;
            """)
    }
}
