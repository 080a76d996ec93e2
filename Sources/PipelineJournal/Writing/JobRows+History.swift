import PipelineCore
import PipelineSQL

/// What outlives jobs: the ledger of resumes and the history of stages.
extension JobRows {
    func keep(_ record: ResumeRecord, _ job: Int64) throws(JournalFailure) {
        try run(
            """
            INSERT INTO resumes (time, pipeline, job, stage, item, reason, charge, delay, machine_delay, start,
                is_unlimited)
            VALUES (:time, :pipeline, :job, :stage, :item, :reason, :charge, :delay, :machine_delay, :start,
                :is_unlimited)
            """,
            [
                "time": record.time, "pipeline": record.pipeline, "job": job, "stage": record.step?.stage,
                "item": record.step?.item, "reason": record.reason.rawValue, "charge": record.charge.rawValue,
                "delay": record.delay.wholeMilliseconds, "machine_delay": record.machineDelay.wholeMilliseconds,
                "start": record.start, "is_unlimited": record.isUnlimited,
            ])
    }

    /// More of one stage than an estimate is ever made from are not kept; looked at now and then only.
    private static var keptSamples: Int { 500 }

    func keep(_ sample: StageSample) throws(JournalFailure) {
        let number = try returnedNumber(
            """
            INSERT INTO samples (pipeline, stage, subject, ended, seconds, earliest, size, polls, resumes, bytes, p50, p90,
                remaining_error, progress_error)
            VALUES (:pipeline, :stage, :subject, :ended, :seconds, :earliest, :size, :polls, :resumes, :bytes, :p50, :p90,
                :remaining_error, :progress_error)
            RETURNING number
            """,
            [
                "pipeline": sample.pipeline, "stage": sample.stage, "subject": sample.subject, "ended": sample.ended,
                "seconds": sample.seconds, "earliest": sample.earliest, "size": sample.size, "polls": sample.polls,
                "resumes": sample.resumes,
                "bytes": sample.bytes, "p50": sample.p50, "p90": sample.p90, "remaining_error": sample.remainingError,
                "progress_error": sample.progressError,
            ])
        guard number % 64 == 0 else { return }
        try run(
            """
            DELETE FROM samples WHERE pipeline = :pipeline AND stage = :stage AND number <= (SELECT number FROM samples
                WHERE pipeline = :pipeline AND stage = :stage ORDER BY number DESC LIMIT 1 OFFSET :kept)
            """, ["pipeline": sample.pipeline, "stage": sample.stage, "kept": Self.keptSamples])
    }
}
