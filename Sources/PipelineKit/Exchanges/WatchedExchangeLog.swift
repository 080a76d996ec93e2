import PipelineCore

/// A log whose records somebody else gets too, as they come.
struct WatchedExchangeLog: ExchangeLog {
    let log: any ExchangeLog
    let watch: @Sendable (ExchangeRecord) -> Void

    func append(_ record: ExchangeRecord, of job: JobID) {
        log.append(record, of: job)
        watch(record)
    }

    func flush(_ job: JobID) { log.flush(job) }
}
