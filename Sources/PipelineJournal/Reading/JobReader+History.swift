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
            SELECT stage, subject, ended, seconds, earliest, size, polls, resumes, bytes, p50, p90, remaining_error,
                progress_error
            FROM (SELECT *, row_number() OVER (PARTITION BY stage ORDER BY number DESC) AS place FROM samples
                WHERE pipeline = :pipeline) AS ranked
            WHERE place <= :limit ORDER BY number
            """, ["pipeline": pipeline, "limit": limit]
        ) { row in
            var sample = StageSample(
                pipeline: pipeline, stage: row.text("stage"), ended: row.time("ended"), seconds: row.double("seconds"),
                earliest: row.double("earliest"), size: row.optionalDouble("size"), polls: row.int("polls"),
                resumes: row.int("resumes"), bytes: row.integer("bytes"), p50: row.optionalDouble("p50"),
                p90: row.optionalDouble("p90"), remainingError: row.optionalDouble("remaining_error"),
                progressError: row.optionalDouble("progress_error"))
            sample.subject = row.optionalText("subject")
            return sample
        }
    }

    /// What other owners wait for is known by its rows alone: the last poll was within a fifth of what has passed.
    private static var certainShare: Double { 0.8 }

    /// The remote jobs under way that other living owners have, of the newest jobs first.
    func running(
        of pipeline: String, besides owner: OwnerID, at now: Timestamp, limit: Int
    ) throws(JournalFailure) -> [StageSample] {
        var living = LivingOwners(owners: owners)
        return try all(
            """
            SELECT steps.stage, steps.started, jobs.owner, boot, lease_until
            FROM jobs JOIN owners ON owners.id = jobs.owner
                JOIN submits ON submits.job = jobs.number AND submits.phase = 'submitted'
                JOIN steps ON steps.job = jobs.number AND steps.stage = submits.stage AND steps.item = submits.item
            WHERE jobs.pipeline = :pipeline AND jobs.ended IS NULL AND jobs.owner <> :own AND steps.attempts <= 1
                AND steps.started IS NOT NULL AND (steps.state = 'running' OR steps.state = 'waiting')
            ORDER BY jobs.number DESC LIMIT :limit
            """, ["pipeline": pipeline, "own": owner.text, "limit": limit]
        ) { row -> StageSample? in
            guard OwnerLease(row).flatMap({ living.owner($0) }) != nil else { return nil }
            var sample = StageSample(
                pipeline: pipeline, stage: row.text("stage"), ended: now,
                seconds: max(0, (now - row.time("started")).seconds) * Self.certainShare)
            sample.isRunning = true
            return sample
        }.compactMap { $0 }
    }

    func pipelines() throws(JournalFailure) -> [String] {
        try all("SELECT pipeline FROM samples UNION SELECT pipeline FROM resumes ORDER BY 1") { $0.text("pipeline") }
    }
}
