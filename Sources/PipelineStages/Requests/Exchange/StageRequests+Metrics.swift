import PipelineCore
import PipelineHTTP

extension StageRequests {
    /// The name by which metrics call the service.
    var label: String { service?.name ?? MetricNames.none }
}
