import PipelineSQLite

/// As many ended jobs as nobody wants to wait for: rows made from those of a few, by the database itself.
enum ManyRows {
    /// Makes that many copies of the jobs that have ended, older than all of them, with their steps.
    static func copy(_ count: Int, in file: String) throws {
        let connection = try SQLiteConnection(file, busyTimeout: .seconds(60))
        func number(_ sql: String) throws -> Int { try connection.texts(sql).first.flatMap { Int($0) } ?? 0 }
        let last = try number("SELECT max(number) FROM jobs")
        let models = try number("SELECT count(*) FROM jobs WHERE ended IS NOT NULL")
        guard models > 0 else { throw BenchFailure(end: "no job has ended") }
        try connection.execute(
            """
            BEGIN IMMEDIATE;
            CREATE TEMP TABLE models AS SELECT row_number() OVER (ORDER BY number) - 1 AS place, number
                FROM jobs WHERE ended IS NOT NULL;
            CREATE TEMP TABLE copies AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
                SELECT i, models.number AS source, \(last) + i AS number FROM n
                    JOIN models ON models.place = i % \(models);
            INSERT INTO jobs (number, id, key, pipeline, started, document, source_name, inputs, environment,
                    document_folder, output_folder, overwrites, mode, ended, epoch, found_secrets, outcome)
                SELECT copies.number, printf('01h%07d', i) || substr(id, 11), 'many-' || i, pipeline,
                    started - 1000000000 + i * 900, document, source_name, inputs, environment,
                    document_folder, output_folder, overwrites, mode, ended - 1000000000 + i * 900, 1, found_secrets,
                    outcome
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
