/// The statements of what outlives jobs.
extension JournalStatement {
    var historySQL: String {
        switch self {
        case .insertResume:
            """
            INSERT INTO resumes (time, pipeline, job, stage, item, reason, charge, delay, machine_delay, start,
                is_unlimited)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
            """
        case .insertSample:
            """
            INSERT INTO samples (pipeline, stage, ended, seconds, earliest, size, polls, resumes, bytes, p50, p90,
                remaining_error, progress_error)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13) RETURNING number
            """
        default:
            """
            DELETE FROM samples WHERE pipeline = ?1 AND stage = ?2 AND number <= (SELECT number FROM samples
                WHERE pipeline = ?1 AND stage = ?2 ORDER BY number DESC LIMIT 1 OFFSET ?3)
            """
        }
    }
}
