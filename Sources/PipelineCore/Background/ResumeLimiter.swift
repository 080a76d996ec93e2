/// The rate limiter of one scope, a pipeline or the machine: a pure value, folded from what was entered.
///
/// Within the allowance of a sliding window nothing is delayed. Beyond it each resume is delayed by `factor` times as
/// much as the one before. Once a delay has run out, and as much time again has passed without a further resume, the
/// delay falls back to zero; at once when a person attends. Counting the quiet from the end of the delay, not from its
/// beginning, keeps a chain of short stages slowed down: each of its resumes comes right after the delay before it.
package struct ResumeLimiter: Sendable, Hashable {
    /// The times of resumes that count, oldest first.
    private(set) var entries: [Timestamp] = []
    /// The last delay that was imposed; zero when there is none in force.
    private(set) var lastDelay = Duration.zero
    /// The time when that delay runs out.
    private(set) var delayEnd = Timestamp.epoch

    package init() {}

    /// Returns how many resumes count at the time.
    package func used(at time: Timestamp, of budget: ResumeBudget) -> Int {
        let oldest = time - budget.window
        return entries.reversed().prefix { $0 > oldest }.count
    }

    /// The delay that a further resume at the time would get.
    package func delay(at time: Timestamp, under budget: ResumeBudget) -> Duration {
        guard let allowance = budget.allowance, used(at: time, of: budget) >= allowance else { return .zero }
        return budget.delay(after: hasFallenBack(at: time) ? .zero : lastDelay)
    }

    /// Returns whether no delay is in force any more.
    package func hasFallenBack(at time: Timestamp) -> Bool {
        lastDelay == .zero || time >= delayEnd + lastDelay
    }

    /// Returns when the delay in force falls back to zero if nothing more comes; nil when none is in force.
    package func fallBack(at time: Timestamp) -> Timestamp? {
        hasFallenBack(at: time) ? nil : delayEnd + lastDelay
    }

    /// Returns when the allowance has room again; nil when it has, or never will.
    package func replenishesAt(at time: Timestamp, under budget: ResumeBudget) -> Timestamp? {
        guard let allowance = budget.allowance, allowance > 0 else { return nil }
        let inWindow = entries.filter { $0 > time - budget.window }
        guard inWindow.count >= allowance else { return nil }
        return inWindow[inWindow.count - allowance] + budget.window
    }

    /// Counts a resume that was delayed by so much.
    package mutating func count(at time: Timestamp, delay: Duration) {
        let place = entries.lastIndex { $0 <= time }.map { $0 + 1 } ?? 0
        entries.insert(time, at: place)
        if entries.count > Self.kept { entries.removeFirst(entries.count - Self.kept) }
        guard delay > .zero else { return }
        lastDelay = delay
        delayEnd = time + delay
    }

    /// A person attends: the delay falls back to zero at once.
    package mutating func attend() {
        lastDelay = .zero
        delayEnd = .epoch
    }

    /// More than any window is read for; a budget of more is as good as none.
    private static let kept = 20_000
}
