public import JSONPath

/// The work of one kind of stage: a value made from its configuration.
///
/// The engine calls ``resume(from:in:)`` for each try and after each wait, on the concurrent executor, and performs
/// what it returns. A stage never retries, sleeps, marks itself or starts another stage; it can't see the engine,
/// the journal or other stages. It must stand being stopped at any `await` and called again with its last checkpoint.
public protocol Stage: Sendable {
    /// The state that the stage needs to go on after a crash; kept as JSON.
    associatedtype Checkpoint: Codable & Sendable

    /// Goes on from the checkpoint, or begins when there is none. Cancelling the task stops it: it commits what it
    /// has and throws `.stopped`.
    func resume(
        from checkpoint: Checkpoint?, in context: StageContext<Checkpoint>
    ) async throws(StageFailure) -> StageOutcome<Checkpoint>

    /// Returns what a plan shows of the stage. Nothing is sent and no file is read for it.
    func preview(in scope: PreviewScope) async -> StagePreview

    /// Returns what makes the stage fail for sure, as far as it is known when a job starts: then the job does not
    /// start, and nothing is spent. Nothing is sent for it; nil for nothing.
    func preflight(at start: JobStart) async -> StepFailure?

    /// The file that the stage writes, as far as it is known when a job starts; nil for none, and while it is not known.
    func target(at start: JobStart) -> String?

    /// Undoes at the service what the stage has begun there. Called when the job is cancelled, also when nothing runs.
    func cancel(from checkpoint: Checkpoint?, in context: StageContext<Checkpoint>) async throws(StageFailure)
}

extension Stage {
    public func preview(in scope: PreviewScope) async -> StagePreview { StagePreview() }

    public func preflight(at start: JobStart) async -> StepFailure? { nil }

    public func target(at start: JobStart) -> String? { nil }

    public func cancel(from checkpoint: Checkpoint?, in context: StageContext<Checkpoint>) async throws(StageFailure) {}
}

/// The result of a call of a stage without a failure.
public enum StageOutcome<Checkpoint: Sendable>: Sendable {
    /// It is done; the captures are what later stages read, on top of those captured on the way.
    case finished(JSONObject)
    /// Nothing can be done before the wake. The checkpoint is committed with the wait.
    case waiting(Checkpoint, until: WakeCondition, WaitReason)
    /// A submit is lost and could not be settled.
    case unknown(Checkpoint?, UnknownSubmit)
}

/// The reason why a call of a stage ended without a result.
public enum StageFailure: Error, Sendable {
    /// The try failed; what is said decides about another one.
    case failed(AttemptFailure)
    /// The call was stopped from outside: its task was cancelled.
    case stopped
    /// The journal no longer takes writes of this owner, or can't keep them.
    case journal(JournalFailure)

    /// A failure that another try can't help.
    public static func definite(_ failure: StepFailure) -> StageFailure {
        .failed(AttemptFailure(failure, kind: .definite))
    }

    /// A failure of the remote job itself: it is over without a result, or gone. A later attempt submits a new one.
    public static func remoteJobEnded(_ failure: StepFailure) -> StageFailure {
        var failed = AttemptFailure(failure, kind: .definite)
        failed.endsRemoteJob = true
        return .failed(failed)
    }
}
