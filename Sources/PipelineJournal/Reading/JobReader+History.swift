import PipelineCore

/// What outlives jobs: read now and then, by statements of their own.
extension JobReader {
    func resumes(since time: Timestamp, of pipeline: String?) throws(JournalFailure) -> [ResumeRecord] {
        let condition = pipeline == nil ? "" : " AND resumes.pipeline = ?2"
        return try resumes("resumes.time >= ?1\(condition) ORDER BY resumes.time, resumes.number") { query in
            query.bind(1, time)
            if let pipeline { query.bind(2, pipeline) }
        }.records
    }

    func resumes(after number: Int, since time: Timestamp) throws(JournalFailure) -> ResumeRows {
        try resumes("resumes.number > ?2 AND +resumes.time >= ?1 ORDER BY resumes.number", after: number) { query in
            query.bind(1, time)
            query.bind(2, number)
        }
    }

    private func resumes(
        _ condition: String, after number: Int = 0, bind: (SQLiteStatement) -> Void
    ) throws(JournalFailure) -> ResumeRows {
        let sql = """
            SELECT resumes.time, resumes.pipeline, jobs.id, stage, item, reason, charge, delay, machine_delay, start,
                is_unlimited, resumes.number
            FROM resumes LEFT JOIN jobs ON jobs.number = resumes.job WHERE \(condition)
            """
        let query = try SQLiteStatement(sql, on: connection)
        defer { query.finalize() }
        bind(query)
        var rows = ResumeRows(records: [], last: number)
        while try query.step() {
            rows.last = max(rows.last, query.int(11))
            guard let reason = ResumeReason(rawValue: query.text(5)),
                let charge = ResumeRecord.Charge(rawValue: query.text(6))
            else { throw connection.damaged("the ledger of resumes has an entry of an unknown kind") }
            rows.records.append(
                ResumeRecord(
                    time: Timestamp(milliseconds: query.integer(0)), pipeline: query.text(1),
                    job: query.optionalText(2).map { JobID($0) },
                    step: query.optionalText(3).map { StepKey(stage: $0, item: query.optionalInt(4)) },
                    reason: reason, charge: charge, delay: .milliseconds(query.integer(7)),
                    machineDelay: .milliseconds(query.integer(8)), start: query.time(9), isUnlimited: query.int(10) != 0
                ))
        }
        return rows
    }

    /// The last samples of each stage, oldest first.
    func samples(of pipeline: String, limit: Int) throws(JournalFailure) -> [StageSample] {
        let sql = """
            SELECT stage, ended, seconds, earliest, size, polls, resumes, bytes, p50, p90, remaining_error,
                progress_error
            FROM (SELECT *, row_number() OVER (PARTITION BY stage ORDER BY number DESC) AS place FROM samples
                WHERE pipeline = ?1)
            WHERE place <= ?2 ORDER BY number
            """
        let query = try SQLiteStatement(sql, on: connection)
        defer { query.finalize() }
        query.bind(1, pipeline)
        query.bind(2, limit)
        var samples: [StageSample] = []
        while try query.step() {
            samples.append(
                StageSample(
                    pipeline: pipeline, stage: query.text(0), ended: Timestamp(milliseconds: query.integer(1)),
                    seconds: query.double(2), earliest: query.double(3), size: query.optionalDouble(4),
                    polls: query.int(5), resumes: query.int(6), bytes: query.integer(7), p50: query.optionalDouble(8),
                    p90: query.optionalDouble(9), remainingError: query.optionalDouble(10),
                    progressError: query.optionalDouble(11)))
        }
        return samples
    }

    func pipelines() throws(JournalFailure) -> [String] {
        let sql = "SELECT pipeline FROM samples UNION SELECT pipeline FROM resumes ORDER BY 1"
        let query = try SQLiteStatement(sql, on: connection)
        defer { query.finalize() }
        var names: [String] = []
        while try query.step() { names.append(query.text(0)) }
        return names
    }
}
