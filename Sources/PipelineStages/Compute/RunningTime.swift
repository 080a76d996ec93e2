import PipelineCore

/// The time that a remote job has run by now, against what was to be expected.
struct RunningTime {
    private let elapsed: Double
    private let estimate: Estimate?

    init(in context: ComputeStage.Context) {
        elapsed = (context.now - context.facts.started).seconds
        estimate = Estimate(context.facts.outlook(), elapsed: elapsed)
    }

    /// True if a job may well take that long; nil where nothing is known of how long it takes.
    var isWithinEstimate: Bool? { estimate.map { $0.distribution.quantile(0.99) > elapsed } }

    /// True if it has run for a minute, and longer than its estimate allows, where there is one.
    var isLate: Bool { elapsed >= 60 && isWithinEstimate != true }
}
