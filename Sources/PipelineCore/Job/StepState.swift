package import JSONPath

/// The situation of one step: the only thing that is stored about where it stands.
///
/// Each case says who moves it on, and what a crash leaves behind. ``StepState/apply(_:at:)`` is the whole law of change.
package enum StepState: Sendable, Hashable {
    /// Not begun: the job machine starts it when what it needs has ended. A crash changes nothing.
    case pending
    /// A try is under way in the owner's process. After a crash the next owner finds this case and interrupts it.
    case running(AttemptState)
    /// Nothing is under way; a time, a push or a resume moves it on. It costs a row, no task and no connection.
    case waiting(AttemptState, WakeCondition, WaitReason)
    /// A submit was sent and its answer is lost; only a person's `resolve` moves it on.
    case unknown(AttemptState, UnknownSubmit)
    /// Ended well, with the values that later stages read.
    case succeeded(JSONObject)
    /// Ended for good with a failure; a named `resume` or `retry` makes it pending again.
    case failed(StepFailure)
    /// Ended because the job was cancelled.
    case cancelled
    /// Never ran: its `when` was false, or it reads a value of a skipped step.
    case skipped

    /// The cases' names, as journal, events and `show --json` spell them.
    package enum Name: String, Sendable, Hashable, CaseIterable {
        case pending, running, waiting, unknown, succeeded, failed, cancelled, skipped
    }

    /// The case without its data.
    package var name: Name {
        switch self {
        case .pending: .pending
        case .running: .running
        case .waiting: .waiting
        case .unknown: .unknown
        case .succeeded: .succeeded
        case .failed: .failed
        case .cancelled: .cancelled
        case .skipped: .skipped
        }
    }

    /// True if nothing but a person's `retry` moves the step on.
    package var isEnded: Bool {
        switch self {
        case .succeeded, .failed, .cancelled, .skipped: true
        case .pending, .running, .waiting, .unknown: false
        }
    }

    /// The attempt of a step that has begun and not ended.
    package var attempt: AttemptState? {
        switch self {
        case .running(let attempt), .waiting(let attempt, _, _), .unknown(let attempt, _): attempt
        case .pending, .succeeded, .failed, .cancelled, .skipped: nil
        }
    }
}
