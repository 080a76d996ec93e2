import PipelineCore
import PipelineHTTP

extension StageRequests {
    /// The name by which metrics call the service.
    var label: String { service?.name ?? MetricNames.none }

    /// Counts a poll that is sent: `single`, or as a `list` for many jobs.
    func countPoll<Checkpoint>(_ form: String, in context: StageContext<Checkpoint>) {
        var measured = Measurements()
        measured.count(.polls, [label, form])
        context.measure(measured)
    }
}
