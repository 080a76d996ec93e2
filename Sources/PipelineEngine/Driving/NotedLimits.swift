import PipelineCore
import Synchronization

/// Until when services keep what steps have there, as their stages said it between two changes of the steps.
final class NotedLimits: Sendable {
    private let limits = Mutex<[StepKey: Timestamp?]>([:])

    func note(_ time: Timestamp?, of step: StepKey) { limits.withLock { $0[step] = .some(time) } }

    /// Puts what was said since the last call into the step's row.
    func move(to step: inout StepRecord, of key: StepKey) {
        if let noted = limits.withLock({ $0.removeValue(forKey: key) }) { step.expires = noted }
    }
}
