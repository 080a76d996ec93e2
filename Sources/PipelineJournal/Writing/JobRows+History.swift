import PipelineCore

/// What outlives jobs: the ledger of resumes and the history of stages.
extension JobRows {
    func keep(_ record: ResumeRecord, _ job: Int64) throws(JournalFailure) {
        let insertion = try statement(.insertResume)
        insertion.bind(1, record.time)
        insertion.bind(2, record.pipeline)
        insertion.bind(3, job)
        insertion.bind(4, record.step?.stage)
        insertion.bind(5, record.step?.item)
        insertion.bind(6, record.reason.rawValue)
        insertion.bind(7, record.charge.rawValue)
        insertion.bind(8, record.delay.milliseconds)
        insertion.bind(9, record.machineDelay.milliseconds)
        insertion.bind(10, record.start)
        insertion.bind(11, record.isUnlimited)
        try insertion.run()
    }

    /// More of one stage than an estimate is ever made from are not kept; looked at now and then only.
    private static let keptSamples = 500

    func keep(_ sample: StageSample) throws(JournalFailure) {
        let insertion = try statement(.insertSample)
        insertion.bind(1, sample.pipeline)
        insertion.bind(2, sample.stage)
        insertion.bind(3, sample.ended)
        insertion.bind(4, sample.seconds)
        insertion.bind(5, sample.earliest)
        insertion.bind(6, sample.size)
        insertion.bind(7, sample.polls)
        insertion.bind(8, sample.resumes)
        insertion.bind(9, sample.bytes)
        insertion.bind(10, sample.p50)
        insertion.bind(11, sample.p90)
        insertion.bind(12, sample.remainingError)
        insertion.bind(13, sample.progressError)
        guard try insertion.step() else { throw .other("an insertion gave no row") }
        let number = insertion.integer(0)
        insertion.reset()
        guard number % 64 == 0 else { return }
        let trim = try statement(.trimSamples)
        trim.bind(1, sample.pipeline)
        trim.bind(2, sample.stage)
        trim.bind(3, Self.keptSamples)
        try trim.run()
    }
}

extension Duration {
    /// Whole milliseconds; what is longer than the column holds stops at its end.
    fileprivate var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        return overflow ? .max : whole + attoseconds / 1_000_000_000_000_000
    }
}
