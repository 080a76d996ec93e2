import PipelineCore
import PipelineKit

extension BatchRunner.End {
    /// The type of the event that tells it.
    var eventName: String {
        switch self {
        case .ended: "batch.ended"
        case .suspended, .unknown, .unreadable, .cut, .refused, .lost, .read, .left: "batch.suspended"
        }
    }

    var cause: SuspensionCause? {
        switch self {
        case .suspended(let cause): cause
        case .cut: .interrupted
        default: nil
        }
    }
}
