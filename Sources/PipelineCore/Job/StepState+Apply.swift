package import JSONPath

/// An event that can't happen to a step in that state: a mistake of the engine's, never of the world's.
package struct IllegalTransition: Error, Sendable, Hashable, CustomStringConvertible {
    package let state: StepState.Name
    package let event: String
    /// The step, where it is known.
    package var step: StepKey?

    package init(state: StepState.Name, event: String, step: StepKey? = nil) {
        self.state = state
        self.event = event
        self.step = step
    }

    package var description: String {
        "\(step.map { "stage '\($0)': " } ?? "")\(event) cannot happen to a step that is \(state.rawValue)"
    }
}

/// The state after an event, and the events of the job that tell of it.
package struct StepTransition: Sendable, Hashable {
    package let state: StepState
    package let events: [Event]

    /// The kind of an event and its data.
    package struct Event: Sendable, Hashable {
        package let kind: JobEvent.Kind
        package let data: JSONObject
    }

    init(_ state: StepState, _ events: (JobEvent.Kind, JSONObject)...) {
        self.state = state
        self.events = events.map { Event(kind: $0.0, data: $0.1) }
    }
}

extension StepState {
    /// The law of change of one step: the state after an event, and the events that tell of it.
    ///
    /// No I/O, no clock and no randomness inside: a recorded history gives the same states again. Events that come
    /// too late for a step that has ended throw; ``JobState`` drops a stage's outcome before it gets here when the step
    /// was cancelled meanwhile.
    package func apply(_ event: StepEvent, at time: Timestamp) throws(IllegalTransition) -> StepTransition {
        switch (self, event) {
        case (.pending, .started): return StepTransition(.running(AttemptState()), (.stageStarted, [:]))
        case (.waiting(let attempt, _, let reason), .woken):
            return StepTransition(.running(reason.kind.startsNewTry ? attempt.next : attempt), (.stageResumed, [:]))
        case (.running(let attempt), .progressed): return StepTransition(.running(attempt.progressed))
        case (.running, .finished(let captures)): return StepTransition(.succeeded(captures), (.stageSucceeded, [:]))
        case (.running(let attempt), .parked(let wake, let reason)):
            let state = StepState.waiting(attempt, wake, reason)
            return StepTransition(state, (.stageWaiting, Self.data(of: wake, reason)))
        case (.running(let attempt), .tryFailed(let failed, let policy, let random)):
            return Self.afterFailure(failed, policy, random, attempt: attempt, at: time)
        case (.running(var attempt), .renewed(let failure)):
            let (wake, reason) = (WakeCondition.at(time), WaitReason(.renewal, detail: failure.title))
            let told = (JobEvent.Kind.stageWaiting, Self.data(of: wake, reason))
            // What was not sent with captures that were over has failed at nothing.
            if failure.status == nil {
                attempt.unsent += 1
                return StepTransition(.waiting(attempt, wake, reason), told)
            }
            attempt.renewals += 1
            attempt.unsent = 0
            return StepTransition(
                .waiting(attempt, wake, reason), (.attemptFailed, ["error": failure.json]), told)
        case (.running(let attempt), .lostTrack(let submit)):
            return StepTransition(.unknown(attempt, submit), (.stageUnknown, Self.data(of: submit)))
        case (.running(let attempt), .interrupted(let reason)):
            return StepTransition(.waiting(attempt, .resume, reason))
        case (.running(var attempt), .takenUp):
            attempt.takenUp = time
            return StepTransition(.waiting(attempt, .at(time), WaitReason(.interrupted)))
        case (.waiting(var attempt, let wake, let reason), .takenUp):
            if reason.kind == .interrupted { attempt.takenUp = time }
            let isHastened = wake == .resume || reason.kind.endsWithResume && wake.time.map { $0 > time } ?? true
            return StepTransition(.waiting(attempt, isHastened ? .at(time) : wake, reason))
        case (_, .takenUp): return StepTransition(self)
        case (_, .clockSet(let shift)): return StepTransition(shifted(by: shift))
        case (.unknown(let attempt, _), .resolved):
            return StepTransition(.waiting(attempt, .resume, WaitReason(.interrupted)))
        case (.unknown, .abandoned(let failure)), (.pending, .refused(let failure)):
            return StepTransition(.failed(failure), (.stageFailed, ["error": failure.json]))
        case (.pending, .skipped): return StepTransition(.skipped, (.stageSkipped, [:]))
        case (.pending, .cancelled), (.running, .cancelled), (.waiting, .cancelled), (.unknown, .cancelled):
            return StepTransition(.cancelled, (.stageCancelled, [:]))
        case (.failed, .retried), (.cancelled, .retried): return StepTransition(.pending)
        case (.succeeded, .renewing): return StepTransition(.pending)
        case (_, .restarted): return StepTransition(.pending)
        default: throw IllegalTransition(state: name, event: event.name)
        }
    }

    private static func data(of wake: WakeCondition, _ reason: WaitReason) -> JSONObject {
        var data: JSONObject = ["until": JSON(wake.time?.description), "reason": .string(reason.kind.rawValue)]
        if let detail = reason.detail { data["detail"] = .string(detail) }
        if reason.isTrouble { data["trouble"] = .bool(true) }
        return data
    }

    private static func data(of submit: UnknownSubmit) -> JSONObject {
        ["key": .string(submit.key), "since": .string(submit.since.description)]
    }

    private static func afterFailure(
        _ failed: AttemptFailure, _ policy: RetryPolicy, _ random: Double, attempt before: AttemptState,
        at time: Timestamp
    ) -> StepTransition {
        let error: JSONObject = ["error": failed.failure.json]
        var attempt = failed.progressed ? before.progressed : before
        let since = attempt.failingSince ?? time
        attempt.failingSince = since
        switch failed.kind {
        case .definite: return StepTransition(.failed(failed.failure), (.stageFailed, error))
        case .secret:
            let reason = WaitReason(.secret, detail: failed.failure.title)
            return StepTransition(.waiting(attempt, .resume, reason), (.attemptFailed, error))
        case .held(.renewal) where before.unsent >= policy.attempts:
            return StepTransition(.failed(failed.failure), (.stageFailed, error))
        case .held(let kind):
            attempt = before
            attempt.unsent = 0
            let wake = WakeCondition.at(time + max(failed.retryAfter ?? .zero, .milliseconds(10)))
            let reason = WaitReason(kind, detail: failed.failure.title)
            return StepTransition(.waiting(attempt, wake, reason), (.stageWaiting, data(of: wake, reason)))
        case .answered: attempt.failures += 1
        case .silent: attempt.noResponseCount += 1
        }
        let delay = max(
            failed.pause,
            policy.delay(
                afterFailures: attempt.failures + attempt.noResponseCount, floor: failed.retryAfter, random: random))
        let limit = since + policy.duration
        // What the service itself asks to wait for is waited for, once: it is not tried in vain meanwhile.
        let isOverdue = failed.retryAfter == nil ? time + delay > limit : time > limit
        if failed.kind == .answered, attempt.failures >= policy.attempts || isOverdue {
            if let submit = failed.openSubmit {
                let told = (JobEvent.Kind.stageUnknown, data(of: submit))
                return StepTransition(.unknown(attempt, submit), (.attemptFailed, error), told)
            }
            return StepTransition(.failed(failed.failure), (.attemptFailed, error), (.stageFailed, error))
        }
        if isOverdue {
            // The next owner starts with a fresh allowance: the network was away, the service refused nothing.
            let reason = WaitReason(.noAnswer, detail: failed.failure.title)
            let rested = AttemptState(number: attempt.number)
            return StepTransition(.waiting(rested, .resume, reason), (.attemptFailed, error))
        }
        let kind: WaitReason.Kind = failed.retryAfter == nil ? .retry : .refused
        let (wake, reason) = (WakeCondition.at(time + delay), WaitReason(kind, detail: failed.failure.title))
        return StepTransition(
            .waiting(attempt, wake, reason), (.attemptFailed, error), (.stageWaiting, data(of: wake, reason)))
    }
}

extension StepState {
    /// The state by a clock that was set by so much. A time that the author gave is kept: what waits for one, or for a
    /// length of its author's, is woken at the earlier of the two and sees for itself.
    fileprivate func shifted(by shift: Duration) -> StepState {
        switch self {
        case .running(let attempt): return .running(attempt.shifted(by: shift))
        case .waiting(let attempt, let wake, let reason):
            let moved = wake.shifted(by: shift)
            let isEarlier = moved.time.map { new in wake.time.map { new < $0 } ?? true } ?? false
            return .waiting(
                attempt.shifted(by: shift), reason.kind != .time || isEarlier ? moved : wake, reason.shifted(by: shift))
        case .unknown(let attempt, let submit):
            let moved = UnknownSubmit(key: submit.key, since: submit.since + shift, reason: submit.reason)
            return .unknown(attempt.shifted(by: shift), moved)
        case .pending, .succeeded, .failed, .cancelled, .skipped: return self
        }
    }
}

extension AttemptState {
    fileprivate func shifted(by shift: Duration) -> AttemptState {
        var attempt = self
        attempt.failingSince = failingSince.map { $0 + shift }
        attempt.takenUp = takenUp.map { $0 + shift }
        return attempt
    }
}

extension WaitReason {
    fileprivate func shifted(by shift: Duration) -> WaitReason {
        WaitReason(
            kind, detail: detail, isTrouble: isTrouble,
            foretold: foretold.map { ForetoldEnd($0.end + shift, said: $0.said + shift) })
    }
}

extension WakeCondition {
    /// The condition by a clock that was set by so much.
    func shifted(by shift: Duration) -> WakeCondition {
        switch self {
        case .at(let time): .at(time + shift)
        case .callback(let time): .callback(orAt: time.map { $0 + shift })
        case .resume: .resume
        }
    }
}

extension WaitReason.Kind {
    /// True if what follows the wait is another try rather than the same one going on.
    package var startsNewTry: Bool {
        switch self {
        case .retry, .refused, .interrupted, .noAnswer, .secret, .renewal: true
        case .poll, .time, .callback, .settle, .closed, .full: false
        }
    }
}

extension WaitReason.Kind {
    /// True if what follows the wait begins with a request that may be the first: nothing of one is waited for.
    var sendsAnew: Bool {
        switch self {
        case .retry, .refused, .interrupted, .noAnswer, .secret, .closed, .full: true
        case .poll, .time, .callback, .settle, .renewal: false
        }
    }
}

extension WaitReason.Kind {
    /// True if a new owner ends the wait before its time: the first poll after a restart is at once, a service's
    /// Retry-After and a time that the author gave are kept.
    var endsWithResume: Bool {
        switch self {
        case .poll, .retry, .interrupted, .noAnswer, .secret, .callback, .renewal: true
        case .time, .settle, .refused, .closed, .full: false
        }
    }
}

extension StepEvent {
    /// The event's name for messages.
    package var name: String {
        switch self {
        case .started: "started"
        case .progressed: "progressed"
        case .finished: "finished"
        case .parked: "parked"
        case .woken: "woken"
        case .tryFailed: "tryFailed"
        case .renewed: "renewed"
        case .lostTrack: "lostTrack"
        case .resolved: "resolved"
        case .abandoned: "abandoned"
        case .interrupted: "interrupted"
        case .takenUp: "takenUp"
        case .clockSet: "clockSet"
        case .cancelled: "cancelled"
        case .skipped: "skipped"
        case .retried: "retried"
        case .renewing: "renewing"
        case .restarted: "restarted"
        case .refused: "refused"
        }
    }
}
