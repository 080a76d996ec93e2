/// A resume that is known to come: a timer that is set, or a transfer under way. It lets another one that comes a
/// little sooner wait for it, so that both are one.
package struct ExpectedResume: Sendable, Hashable {
    package let job: JobID
    package let step: StepKey
    /// The earliest moment; of a transfer whose end nobody knows, any.
    package let due: Timestamp
    /// The latest moment at which it may happen; nil for a transfer, which ends when it ends.
    package let latest: Timestamp?

    /// A timer that is due at a moment and may be moved by the tolerance.
    package static func timer(job: JobID, step: StepKey, due: Timestamp, tolerance: Duration) -> ExpectedResume {
        ExpectedResume(job: job, step: step, due: due, latest: due + tolerance)
    }

    /// A transfer under way.
    package static func transfer(job: JobID, step: StepKey) -> ExpectedResume {
        ExpectedResume(job: job, step: step, due: .epoch, latest: nil)
    }
}
