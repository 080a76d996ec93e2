package import PipelineCore
import PipelineSQL

extension DatabaseJournal {
    package func traceCursor(of job: JobID) async throws(JournalFailure) -> TraceCursor? {
        try await read { (reader) throws(JournalFailure) in
            try reader.first(
                """
                SELECT link, sequence, is_whole FROM traces JOIN jobs ON jobs.number = traces.job WHERE jobs.id = :job
                """, ["job": job.text]
            ) { row in
                TraceCursor(
                    sequence: row.int("sequence"), link: row.optionalText("link").flatMap { TraceLink($0) },
                    isWhole: row.flag("is_whole"))
            }
        }
    }

    package func keep(_ cursor: TraceCursor, of job: JobID) async throws(JournalFailure) {
        try await write { (rows) throws(JournalFailure) in
            // A link stays that of the start.
            try rows.run(
                """
                INSERT INTO traces (job, link, sequence, is_whole)
                SELECT number, CAST(:link AS TEXT), :sequence, :is_whole FROM jobs WHERE id = :job
                ON CONFLICT (job) DO UPDATE SET is_whole = excluded.is_whole, sequence = CASE
                    WHEN traces.sequence > excluded.sequence THEN traces.sequence ELSE excluded.sequence END
                """,
                [
                    "job": job.text, "link": cursor.link?.text, "sequence": cursor.sequence,
                    "is_whole": cursor.isWhole,
                ])
        }
    }

    package func openTraces(limit: Int) async throws(JournalFailure) -> [JobID] {
        try await read { (reader) throws(JournalFailure) in
            try reader.all(
                """
                SELECT jobs.id AS id FROM traces JOIN jobs ON jobs.number = traces.job
                WHERE is_whole = 0 ORDER BY traces.job LIMIT :limit
                """, ["limit": limit]
            ) { JobID($0.text("id")) }
        }
    }
}
