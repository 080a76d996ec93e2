import Foundation
import PipelineCore
import PipelineSQLite

@testable import PipelineDashboard

/// As many jobs as nobody wants to wait for: rows made from those of a few, by the database itself.
enum ManyJobs {
    /// Makes that many copies of the jobs that are there, older than all of them, with their steps and events.
    static func copy(_ count: Int, in world: DashboardWorld) throws {
        let connection = try SQLiteConnection(world.folder + "/state/journal.sqlite", busyTimeout: .seconds(60))
        let last = try connection.texts("SELECT max(number) FROM jobs").first.flatMap { Int($0) } ?? 0
        try connection.execute(
            """
            BEGIN IMMEDIATE;
            CREATE TEMP TABLE copies AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
                SELECT i, i % \(last) + 1 AS source, \(last) + i AS number FROM n;
            INSERT INTO jobs (number, id, key, pipeline, started, document, source_name, inputs, environment,
                    document_folder, output_folder, overwrites, mode, cause, ended, epoch, found_secrets, outcome)
                SELECT copies.number, printf('01h%07d', i) || substr(id, 11), 'many-' || i, pipeline,
                    started - 100000000 + i * 900, document, source_name, inputs, environment, document_folder,
                    output_folder, overwrites, mode, CASE WHEN ended IS NULL THEN 'paused' END,
                    ended - 100000000 + i * 900, 1, found_secrets, outcome
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
