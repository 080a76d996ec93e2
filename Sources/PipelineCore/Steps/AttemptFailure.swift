/// A try that ended without a result, with what the retry decision needs.
public struct AttemptFailure: Sendable, Hashable, Error {
    /// The meaning of the failure for another attempt.
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

    /// The failure as a person reads it.
    public var failure: StepFailure
    /// The consequence that it may have.
    public var kind: Kind
    /// A server's Retry-After: the next try is not before it.
    public var retryAfter: Duration?
    /// The shortest wait before the next try, however small the policy's delays are: for what mends slowly and has
    /// nobody to ask for it, as a full disk does.
    public var pause: Duration
    /// True if bytes moved in this try, so that earlier failures are forgotten.
    public var progressed: Bool
    /// The submit that is unknown when the step is not tried again: the service may have taken it, so nobody knows that it
    /// failed.
    package var openSubmit: UnknownSubmit?
    /// True if the remote job that the step began is over without a result: what follows a `retry` is a new one.
    public var endsRemoteJob = false

    /// Says how an attempt failed.
    ///
    /// - Parameters:
    ///   - retryAfter: how long the service wants to be left alone, as its response says.
    ///   - pause: the shortest wait before the next attempt, however small the delays of `retry` are.
    ///   - progressed: true if bytes moved: earlier failures are forgotten then.
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
