import PipelineCore

/// Tells services that a job is cancelled, and tells those again that may listen later: what is not ended there goes on, and
/// is paid for.
struct ServiceCancellation: Sendable {
    /// The longest time after the first word to a service of the job at which another is told again: a person waits.
    private static let patience = Duration.seconds(10)
    /// The longest such time where the service says itself when it takes requests.
    private static let statedPatience = Duration.seconds(60)

    private let began: Timestamp

    init(at time: Timestamp) { began = time }

    /// Has the stage of one step tell its service; the reason why it could not be told, or nil.
    func tell(
        _ stage: AnyStage, _ checkpoint: [UInt8]?, by clock: any WallClock, _ host: any StageHost
    ) async -> String? {
        var pause = Duration.seconds(1)
        while true {
            guard case .failed(let failed) = await StepCall.cancel(stage, checkpoint, host) else { return nil }
            let next = clock.now + max(failed.retryAfter ?? .zero, pause)
            let last = began + (failed.retryAfter == nil ? Self.patience : Self.statedPatience)
            guard Self.mayHelp(failed.kind), next <= last, (try? await clock.sleep(until: next)) != nil else {
                return failed.failure.title
            }
            pause *= 2
        }
    }

    private static func mayHelp(_ kind: AttemptFailure.Kind) -> Bool {
        switch kind {
        case .answered, .silent, .held: true
        case .definite, .secret: false
        }
    }
}
