import PipelineCore
import PipelineSQL

/// What outlives jobs.
extension JobReader {
    /// The resumes from a time on, of one pipeline or of all, oldest first.
    func resumes(since time: Timestamp, of pipeline: String?) throws(JournalFailure) -> [ResumeRecord] {
        try all(
            """
            SELECT resumes.time, resumes.pipeline, jobs.id, stage, item, reason, charge, delay, machine_delay, start,
                is_unlimited
            FROM resumes LEFT JOIN jobs ON jobs.number = resumes.job
            WHERE resumes.time >= :since AND (CAST(:pipeline AS TEXT) IS NULL OR resumes.pipeline = :pipeline)
            ORDER BY resumes.time, resumes.number
            """, ["since": time, "pipeline": pipeline]
        ) { (row) throws(JournalFailure) in try resume(row) }
    }

    /// The resumes that were written after a row, in the order in which they were.
    func resumes(after number: Int, since time: Timestamp) throws(JournalFailure) -> ResumeRows {
        // A plus keeps SQLite from choosing the index of times: rows are mostly new.
        var last = number
        let records = try all(
            """
            SELECT resumes.number, resumes.time, resumes.pipeline, jobs.id, stage, item, reason, charge, delay,
                machine_delay, start, is_unlimited
            FROM resumes LEFT JOIN jobs ON jobs.number = resumes.job
            WHERE resumes.number > :after AND +resumes.time >= :since ORDER BY resumes.number
            """, ["after": number, "since": time]
        ) { (row) throws(JournalFailure) in
            last = max(last, row.int("number"))
            return try resume(row)
        }
        return ResumeRows(records: records, last: last)
    }

    private func resume(_ row: Row) throws(JournalFailure) -> ResumeRecord {
        guard let reason = ResumeReason(rawValue: row.text("reason")),
            let charge = ResumeRecord.Charge(rawValue: row.text("charge"))
        else { throw row.damaged("the ledger of resumes has an entry of an unknown kind") }
        return ResumeRecord(
            time: row.time("time"), pipeline: row.text("pipeline"), job: row.optionalText("id").map { JobID($0) },
            step: StepKey(optional: row), reason: reason, charge: charge,
            delay: .milliseconds(row.integer("delay")), machineDelay: .milliseconds(row.integer("machine_delay")),
            start: row.time("start"), isUnlimited: row.flag("is_unlimited"))
    }

    /// The last samples of each stage, oldest first.
    func samples(of pipeline: String, limit: Int) throws(JournalFailure) -> [StageSample] {
        try all(
            """
            SELECT stage, ended, seconds, earliest, size, polls, resumes, bytes, p50, p90, remaining_error,
                progress_error
            FROM (SELECT *, row_number() OVER (PARTITION BY stage ORDER BY number DESC) AS place FROM samples
                WHERE pipeline = :pipeline) AS ranked
            WHERE place <= :limit ORDER BY number
            """, ["pipeline": pipeline, "limit": limit]
        ) { row in
            StageSample(
                pipeline: pipeline, stage: row.text("stage"), ended: row.time("ended"), seconds: row.double("seconds"),
                earliest: row.double("earliest"), size: row.optionalDouble("size"), polls: row.int("polls"),
                resumes: row.int("resumes"), bytes: row.integer("bytes"), p50: row.optionalDouble("p50"),
                p90: row.optionalDouble("p90"), remainingError: row.optionalDouble("remaining_error"),
                progressError: row.optionalDouble("progress_error"))
        }
    }

    func pipelines() throws(JournalFailure) -> [String] {
        try all("SELECT pipeline FROM samples UNION SELECT pipeline FROM resumes ORDER BY 1") { $0.text("pipeline") }
    }
}
