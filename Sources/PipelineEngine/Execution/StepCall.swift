import PipelineCore

/// One call of a stage that is under way, and the way to stop it.
final class StepCall: Sendable {
    private let flag = CancellationFlag()
    /// Asks the call to stop; it ends by itself soon after. From any thread, any number of times.
    func stop() { flag.raise() }

    /// Calls the stage on the concurrent executor, never on an executor of a job: a stage may hash for seconds.
    ///
    /// The work is a child task beside one that waits for ``stop()``, so that it can be cancelled alone.
    /// `hasBegun` is called once the stage is at work: it starts on this thread, before anything else of it is said.
    /// `beside` runs as long as the stage does, and ends only when it is cancelled.
    @concurrent func perform(
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
            group.addTask { [flag] in
                await flag.raised()
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
    @concurrent static func first(
        _ find: @Sendable (Scope, JobFolders) -> [UInt8]?, _ scope: Scope, _ folders: JobFolders
    ) async -> [UInt8]? {
        find(scope, folders)
    }

    /// Calls a stage's cancellation, likewise.
    @concurrent static func cancel(
        _ stage: AnyStage, _ checkpoint: [UInt8]?, _ host: any StageHost
    ) async -> StageFailure? {
        await stage.cancel(checkpoint, host)
    }
}
