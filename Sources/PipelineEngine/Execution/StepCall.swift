import PipelineCore
import Synchronization

/// One call of a stage that is under way, and the way to stop it.
///
/// A submit that is at the service is not cut off at once: without its response nobody knows whether it was taken, and
/// nobody can cancel what it began.
final class StepCall: Sendable {
    /// The longest time that a call which is to stop waits for the response to its submit: a person waits with it.
    static let patience = Duration.seconds(3)

    private let flag = CancellationFlag()
    /// Raised by the response to the submit that is under way; nil while there is none.
    private let response = Mutex<CancellationFlag?>(nil)

    /// Asks the call to stop; it ends by itself soon after. From any thread, any number of times.
    func stop() { flag.raise() }

    /// Asks it to stop without regard to a submit: its job is another's by now, or nothing can be kept.
    func stopAtOnce() {
        stop()
        note(.unknown)
    }

    /// Notes that a submit is to be sent; false where it may not: the call is to stop, and would be cut off with it.
    func beginSubmit() -> Bool {
        response.withLock { response in
            if flag.isRaised { return false }
            if response == nil { response = CancellationFlag() }
            return true
        }
    }

    /// Notes how far its submit is, once that is on disk.
    func note(_ phase: SubmitRecord.Phase) {
        if phase != .sending { response.withLock { $0.take() }?.raise() }
    }

    /// Returns once the call is to stop and no submit of it is under way, or its response takes too long.
    private func stopped(by clock: any WallClock) async {
        await flag.raised()
        guard let response = response.withLock({ $0 }) else { return }
        await withDiscardingTaskGroup { group in
            group.addTask {
                try? await clock.sleep(until: clock.now + Self.patience)
                response.raise()
            }
            await response.raised()
            group.cancelAll()
        }
    }

    /// Calls the stage on the concurrent executor, never on an executor of a job: a stage may hash for seconds.
    ///
    /// The work is a child task next to one that waits for ``stop()``, so that it can be cancelled alone.
    /// `clock` measures how long a submit is waited for.
    /// `hasBegun` is called once the stage is at work: it starts on this thread, before anything else of it is said.
    /// `beside` runs as long as the stage does, and ends only when it is cancelled.
    @concurrent func perform(
        by clock: any WallClock,
        beside: (@Sendable () async -> Void)? = nil,
        _ work: @escaping @Sendable () async -> Result<StageOutcome<[UInt8]>, StageFailure>,
        hasBegun: @Sendable () -> Void
    ) async -> Result<StageOutcome<[UInt8]>, StageFailure> {
        await withTaskGroup(of: Result<StageOutcome<[UInt8]>, StageFailure>?.self) { group in
            // Before macOS 26 it may begin a moment after it is said to.
            if #available(macOS 26, *) {
                group.addImmediateTask { await work() }
            } else {
                group.addTask { await work() }
            }
            hasBegun()
            group.addTask { [self] in
                await stopped(by: clock)
                return nil
            }
            if let beside {
                group.addTask {
                    await beside()
                    return nil
                }
            }
            var outcome: Result<StageOutcome<[UInt8]>, StageFailure> = .failure(.stopped)
            for await ended in group {
                if let ended { outcome = ended }
                group.cancelAll()
            }
            return outcome
        }
    }

    /// Asks a stage for the checkpoint that is kept with its start, likewise.
    @concurrent static func first(_ find: @Sendable (Scope) -> [UInt8]?, _ scope: Scope) async -> [UInt8]? {
        find(scope)
    }

    /// Calls a stage's cancellation, likewise.
    @concurrent static func cancel(
        _ stage: AnyStage, _ checkpoint: [UInt8]?, _ host: any StageHost
    ) async -> StageFailure? {
        await stage.cancel(checkpoint, host)
    }
}
