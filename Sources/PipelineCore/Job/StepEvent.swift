package import JSONPath

/// An event of a step: the input of ``StepState/apply(_:at:)``. Random numbers are arguments.
package enum StepEvent: Sendable, Hashable {
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
    /// The captures that the attempt was made with are no longer good: it is tried again once another stage has given
    /// fresh captures.
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
    /// The machine's clock was set by so much: times that stand for a length from now are moved along.
    case clockSet(Duration)
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
