import PipelineCore

/// The time that a remote job has run by now, against what was to be expected.
struct RunningTime {
    private let elapsed: Double
    private let outlook: @Sendable () -> StageOutlook

    init(in context: ComputeStage.Context) {
        elapsed = (context.now - context.facts.started).seconds
        outlook = context.facts.outlook
    }

    /// True if a job may well take that long; nil where nothing is known of how long it takes. Each call makes an
    /// estimate from all that is known.
    var isWithinEstimate: Bool? {
        Estimate(outlook(), elapsed: elapsed).map { $0.distribution.quantile(0.99) > elapsed }
    }

    /// True if it has run for a minute, and longer than its estimate allows, where there is one.
    var isLate: Bool { elapsed >= 60 && isWithinEstimate != true }
}
