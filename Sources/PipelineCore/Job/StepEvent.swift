public import JSONPath

/// What happened to a step: the input of ``StepState/apply(_:at:)``. Random numbers are arguments.
public enum StepEvent: Sendable, Hashable {
    /// The job machine chose the step to begin.
    case started
    /// Bytes moved or a poll was good: failures since then are forgotten.
    case progressed
    /// The stage ended well.
    case finished(JSONObject)
    /// The stage has nothing to do until the wake.
    case parked(WakeCondition, WaitReason)
    /// The wake came: its time, a push, or a person's resume.
    case woken
    /// A try ended without a result; `random` is uniform in 0..<1 and spreads the delay.
    case tryFailed(AttemptFailure, RetryPolicy, random: Double)
    /// What the try was made with is no longer good: it is tried again once another stage has given fresh captures.
    case renewed(StepFailure)
    /// A submit's answer is lost and could not be settled.
    case lostTrack(UnknownSubmit)
    /// A person settled the unknown submit in the ledger; the stage goes on from there.
    case resolved
    /// A person gave the unknown submit up.
    case abandoned(StepFailure)
    /// The owner stopped in the middle, or a new owner found the step running.
    case interrupted(WaitReason)
    /// A new owner has the job: what was running is tried again at once, and so is what a person's resume hastens.
    case takenUp
    /// The job was cancelled.
    case cancelled
    /// The step is not to run.
    case skipped
    /// It can't begin: what it reads is void, or a value that it needs is wrong.
    case refused(StepFailure)
    /// A person wants it tried again, with fresh attempts.
    case retried
    /// Its captures are void, and another stage needs fresh ones.
    case renewing
    /// A person wants it done again, as if it had never run.
    case restarted
}

/// A try that ended without a result, with what the retry decision needs.
public struct AttemptFailure: Sendable, Hashable, Error {
    /// What the failure means for another try.
    public enum Kind: Sendable, Hashable {
        /// Trying again can't help: the step fails.
        case definite
        /// An answer came and may be better next time: counts towards `attempts`.
        case answered
        /// No answer came (name, route, connection, reset, time-out): counts towards `for` only.
        case silent
        /// A secret can't be found: the job waits for a person, nothing is counted.
        case secret
        /// The service takes nothing before ``retryAfter``: it waits for that reason, and nothing is counted.
        case held(WaitReason.Kind)
    }

    public var failure: StepFailure
    public var kind: Kind
    /// A server's Retry-After: the next try is not before it.
    public var retryAfter: Duration?
    /// The shortest wait before the next try, however small the policy's delays are: for what mends slowly and has
    /// nobody to ask for it, as a full disk does.
    public var pause: Duration
    /// Whether bytes moved in this try, so that earlier failures are forgotten.
    public var progressed: Bool
    /// Whether the remote job that the step began is over without a result: what follows a `retry` is a new one.
    public var endsRemoteJob = false

    public init(
        _ failure: StepFailure, kind: Kind, retryAfter: Duration? = nil, pause: Duration = .zero,
        progressed: Bool = false
    ) {
        self.failure = failure
        self.kind = kind
        self.retryAfter = retryAfter
        self.pause = pause
        self.progressed = progressed
    }
}
