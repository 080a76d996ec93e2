/// The law of one service: when it is closed, for how long, and whose turn is when. Time is an argument.
package struct ServiceAvailability: Sendable {
    /// Nil while it takes requests.
    package private(set) var closed: ClosedService?
    /// Answers 429 without a time in a row.
    private var refusals = 0
    /// The time up to which it was closed before it took requests again; nil when it never was.
    private var lastClosed: Timestamp?
    /// The last turn that was given.
    private var lastTurn: Timestamp?

    /// So many answers 429 without a time in a row close a service.
    static let refusalsThatClose = 3
    /// For so long after it was closed a single one closes it again: else each wave of requests over a quota cost two
    /// attempts.
    static let memory = Duration.seconds(60)
    /// The first wait of a service that names none; each one doubles.
    static let shortestWait = Duration.seconds(1)
    static let longestOwnWait = Duration.seconds(300)
    /// However long a service wants to be left alone, a trial a day finds out whether it still does.
    static let longestWait = Duration.seconds(86_400)
    /// The time for which a trial has the say: one whose process died is followed by another.
    package static let trialLength = Duration.seconds(30)
    /// Those who wait come back one after the other.
    private static let turnLength = Duration.milliseconds(20)

    package init() {}

    /// The change of the journal that follows from a response.
    package enum Change: Sendable, Hashable {
        case nothing
        case close(ClosedService)
        case open
    }

    /// Returns whether a request may go out; nil when a trial is due, whose right the journal gives.
    package mutating func admission(at now: Timestamp) -> ServiceAdmission? {
        guard let closed else { return .open }
        // Turns that were given by a clock that was set back since are far away.
        if closed.isOfLaterClock(at: now) { lastTurn = nil }
        let time = closed.opens(at: now)
        if time > now { return .closed(until: turn(after: time)) }
        if let trial = closed.trialUntil, trial > now, trial - now <= Self.trialLength {
            return .closed(until: turn(after: min(trial, now + Self.shortestWait)))
        }
        return nil
    }

    /// Somebody else has the trial, or there is no place: when to ask again.
    package mutating func turn(at now: Timestamp) -> Timestamp { turn(after: now + Self.shortestWait) }

    private mutating func turn(after time: Timestamp) -> Timestamp {
        let turn = lastTurn.map { max(time, $0 + Self.turnLength) } ?? time
        lastTurn = turn
        return turn
    }

    /// Takes in how the service stands in the journal.
    package mutating func replace(with kept: ClosedService?, at now: Timestamp) {
        if kept == nil {
            lastTurn = nil
            if let closed { lastClosed = min(closed.until, now) }
        }
        closed = kept
    }

    /// This process has the trial.
    package mutating func beginTrial(until limit: Timestamp) { closed?.trialUntil = limit }

    /// Takes in an answer.
    package mutating func record(
        _ answer: ServiceAnswer, of id: ServiceID, named name: String, isTrial: Bool, at now: Timestamp
    ) -> Change {
        switch answer {
        case .taken:
            refusals = 0
            guard isTrial, closed != nil else { return .nothing }
            replace(with: nil, at: now)
            return .open
        case .nothing:
            // Nobody knows more than before: another one tries, a little later.
            guard isTrial, var kept = closed else { return .nothing }
            (kept.since, kept.until, kept.trialUntil) = (now, now + Self.shortestWait, nil)
            closed = kept
            return .close(kept)
        case .closed(let wait): return close(for: wait, id, name, isTrial, now)
        case .tooMany:
            refusals += 1
            let isEnough = refusals >= Self.refusalsThatClose || wasClosed(at: now)
            guard isTrial || closed == nil && isEnough else { return .nothing }
            return close(for: nil, id, name, isTrial, now)
        }
    }

    /// True if it was closed a moment ago. By a clock that was set back since, nobody knows.
    private func wasClosed(at now: Timestamp) -> Bool {
        guard let lastClosed else { return false }
        return now - lastClosed <= Self.memory && lastClosed - now <= ClosedService.slack
    }

    private mutating func close(
        for wait: Duration?, _ id: ServiceID, _ name: String, _ isTrial: Bool, _ now: Timestamp
    ) -> Change {
        let before = closed
        let isNew = isTrial || before == nil
        let closings = (before?.closings ?? 0) + (isNew ? 1 : 0)
        let length = min(wait ?? ownWait(closings), Self.longestWait)
        // Of requests that were under way together one answer closes; another says little more.
        if let before, !isNew, now + length <= before.opens(at: now) + Self.shortestWait { return .nothing }
        refusals = 0
        if isNew { lastTurn = nil }
        let fresh = ClosedService(id: id, name: name, since: now, until: now + length, closings: closings)
        closed = fresh
        return .close(fresh)
    }

    private func ownWait(_ closings: Int) -> Duration {
        var wait = Self.shortestWait
        for _ in 1..<max(1, min(closings, 20)) where wait < Self.longestOwnWait { wait = wait * 2 }
        return min(wait, Self.longestOwnWait)
    }
}
