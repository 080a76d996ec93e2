import JSONPath
import PipelineCore
import PipelineKit

/// Where a push for a step is taken whose stage sends no request that could hand its address to a service: a person hands it
/// to the service that pushes.
struct PushAddress {
    private let url: String

    /// Nil for a step that waits for no push, or hands its address out by itself, and without a public address.
    init?(of step: StepKey, in job: JobSnapshot, _ plan: Plan?, _ addresses: CallbackAddresses?) {
        guard case .waiting = job.steps[step]?.state, let stage = plan?.stage(step.stage)?.stage, stage.callback != nil,
            stage.work == .wait, let url = addresses?.url(job.record.id, step, job.ownKey(of: step))
        else { return nil }
        self.url = url
    }

    /// A line for a person.
    var line: String { "a push is taken at \(url)" }

    var json: JSON { .string(url) }
}
