import PipelineCore
import Synchronization

/// Body bytes of requests between two changes of their steps. Unlike those of a transfer they are no progress: a poll
/// that fails again and again has moved bytes too.
final class PassingBytes: Sendable {
    private let bytes = Mutex<[StepKey: BytesMoved]>([:])

    func add(_ moved: BytesMoved, of step: StepKey) {
        bytes.withLock { $0[step] = $0[step, default: BytesMoved()] + moved }
    }

    /// What was counted since the last call.
    func take(_ step: StepKey) -> BytesMoved {
        bytes.withLock { $0.removeValue(forKey: step) } ?? BytesMoved()
    }
}
