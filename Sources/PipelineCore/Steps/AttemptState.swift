/// The number of attempts of a step, and the time since which it has been failing: what a retry decision reads.
package struct AttemptState: Sendable, Hashable {
    /// The number of the current try, from 1; it only grows.
    package var number: Int
    /// Answers that failed since the last progress; the policy's `attempts` bounds them.
    package var failures: Int
    /// Tries without an answer since the last progress; only their time is bounded.
    package var noResponseCount: Int
    /// The time when the first try failed since the last progress; the policy's `for` counts from here.
    package var failingSince: Timestamp?
    /// The number of times that a service refused captures, and fresh ones were asked for, since the last progress: what
    /// is refused with them too is a failure.
    package var renewals: Int
    /// The number of times in a row that captures had expired before a request could go out. It is not kept: a new owner
    /// counts from 0.
    package var unsent = 0
    /// The time when another owner took it up in its midst: nobody heard of what was sent before that. It is not kept.
    package var takenUp: Timestamp?

    package init(
        number: Int = 1, failures: Int = 0, noResponseCount: Int = 0, failingSince: Timestamp? = nil, renewals: Int = 0
    ) {
        self.renewals = renewals
        self.number = number
        self.failures = failures
        self.noResponseCount = noResponseCount
        self.failingSince = failingSince
    }

    /// The attempt after bytes moved or a poll was good: failures are forgotten, the number is not.
    package var progressed: AttemptState { AttemptState(number: number) }
    /// The next try.
    package var next: AttemptState {
        var next = self
        next.number += 1
        return next
    }
}
