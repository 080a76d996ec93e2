import JSONPath

/// An event that can't happen to a step in that state: a mistake of the engine's, never of the world's.
public struct IllegalTransition: Error, Sendable, Hashable, CustomStringConvertible {
    public let state: StepState.Name
    public let event: String

    public var description: String { "\(event) cannot happen to a step that is \(state.rawValue)" }
}

extension StepState {
    /// The law of change: the state after an event, and what to do once that is committed.
    ///
    /// No I/O, no clock and no randomness inside: a recorded history gives the same states again. Events that come
    /// too late for a step that has ended throw; the engine drops a stage's outcome before it gets here when the step
    /// was cancelled meanwhile.
    public func apply(_ event: StepEvent, at time: Timestamp) throws(IllegalTransition) -> (StepState, [StepEffect]) {
        switch (self, event) {
        case (.pending, .started):
            return (.running(AttemptState()), [.publish(.stageStarted, [:]), .run])
        case (.waiting(let tries, _, let reason), .woken):
            let running = reason.kind.startsNewTry ? tries.next : tries
            return (.running(running), [.publish(.stageResumed, [:]), .run])
        case (.running(let tries), .progressed):
            return (.running(tries.progressed), [])
        case (.running, .finished(let captures)):
            return (.succeeded(captures), [.publish(.stageSucceeded, [:])])
        case (.running(let tries), .parked(let wake, let reason)):
            return Self.parked(tries, wake, reason)
        case (.running(let tries), .tryFailed(let failed, let policy, let random)):
            return Self.afterFailure(failed, policy, random, tries: tries, at: time)
        case (.running(var tries), .renewed(let failure)):
            tries.renewals += 1
            let (state, effects) = Self.parked(tries, .at(time), WaitReason(.renewal, detail: failure.title))
            return (state, [.publish(.attemptFailed, ["error": failure.json])] + effects)
        case (.running(let tries), .lostTrack(let submit)):
            let data: JSONObject = ["key": .string(submit.key), "since": .string(submit.since.description)]
            return (.unknown(tries, submit), [.publish(.stageUnknown, data)])
        case (.running(let tries), .interrupted(let reason)):
            return (.waiting(tries, .resume, reason), [])
        case (.running(let tries), .takenUp):
            return (.waiting(tries, .at(time), WaitReason(.interrupted)), [])
        case (.waiting(let tries, let wake, let reason), .takenUp):
            let isHastened = wake == .resume || reason.kind.endsWithResume && wake.time.map { $0 > time } ?? true
            return (isHastened ? .waiting(tries, .at(time), reason) : self, [])
        case (_, .takenUp): return (self, [])
        case (.unknown(let tries, _), .resolved):
            return (.waiting(tries, .resume, WaitReason(.interrupted)), [])
        case (.unknown, .abandoned(let failure)):
            return (.failed(failure), [.publish(.stageFailed, ["error": failure.json])])
        case (.pending, .skipped):
            return (.skipped, [.publish(.stageSkipped, [:])])
        case (.pending, .cancelled), (.running, .cancelled), (.waiting, .cancelled), (.unknown, .cancelled):
            return (.cancelled, [.publish(.stageCancelled, [:])])
        case (.failed, .retried), (.cancelled, .retried), (.succeeded, .retried), (.skipped, .retried):
            return (.pending, [])
        case (.pending, .tryFailed(let failed, _, _)) where failed.kind == .definite:
            return (.failed(failed.failure), [.publish(.stageFailed, ["error": failed.failure.json])])
        default:
            throw IllegalTransition(state: name, event: event.name)
        }
    }

    private static func parked(_ tries: AttemptState, _ wake: WakeCondition, _ reason: WaitReason) -> (
        StepState, [StepEffect]
    ) {
        var data: JSONObject = ["until": JSON(wake.time?.description), "reason": .string(reason.kind.rawValue)]
        if let detail = reason.detail { data["detail"] = .string(detail) }
        let effects: [StepEffect] = wake.time.map { [.wake(at: $0)] } ?? []
        return (.waiting(tries, wake, reason), [.publish(.stageWaiting, data)] + effects)
    }

    private static func afterFailure(
        _ failed: AttemptFailure, _ policy: RetryPolicy, _ random: Double, tries before: AttemptState,
        at time: Timestamp
    ) -> (StepState, [StepEffect]) {
        let error: JSONObject = ["error": failed.failure.json]
        var tries = failed.progressed ? before.progressed : before
        let since = tries.failingSince ?? time
        tries.failingSince = since
        switch failed.kind {
        case .definite: return (.failed(failed.failure), [.publish(.stageFailed, error)])
        case .secret:
            let reason = WaitReason(.secret, detail: failed.failure.title)
            return (.waiting(tries, .resume, reason), [.publish(.attemptFailed, error), .suspendJob(.secret)])
        case .answered: tries.failures += 1
        case .silent: tries.noResponseCount += 1
        }
        let delay = max(
            failed.pause,
            policy.delay(
                afterFailures: tries.failures + tries.noResponseCount, floor: failed.retryAfter, random: random))
        let isOverdue = time + delay > since + policy.duration
        if failed.kind == .answered, tries.failures >= policy.attempts || isOverdue {
            return (.failed(failed.failure), [.publish(.attemptFailed, error), .publish(.stageFailed, error)])
        }
        if isOverdue {
            // The next owner starts with a fresh allowance: the network was away, the service refused nothing.
            let reason = WaitReason(.noAnswer, detail: failed.failure.title)
            let rested = AttemptState(number: tries.number)
            return (.waiting(rested, .resume, reason), [.publish(.attemptFailed, error), .suspendJob(.noNetwork)])
        }
        let kind: WaitReason.Kind = failed.retryAfter == nil ? .retry : .refused
        let (state, effects) = parked(tries, .at(time + delay), WaitReason(kind, detail: failed.failure.title))
        return (state, [.publish(.attemptFailed, error)] + effects)
    }
}

extension WaitReason.Kind {
    /// Whether what follows the wait is another try rather than the same one going on.
    public var startsNewTry: Bool {
        switch self {
        case .retry, .refused, .interrupted, .noAnswer, .secret, .renewal: true
        case .poll, .time, .callback, .settle: false
        }
    }
}

extension WaitReason.Kind {
    /// Whether a new owner ends the wait before its time: the first poll after a restart is at once, a service's
    /// Retry-After and a time that the author gave are kept.
    var endsWithResume: Bool {
        switch self {
        case .poll, .retry, .interrupted, .noAnswer, .secret, .callback, .renewal: true
        case .time, .settle, .refused: false
        }
    }
}

extension StepEvent {
    /// The event's name for messages.
    public var name: String {
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
        case .cancelled: "cancelled"
        case .skipped: "skipped"
        case .retried: "retried"
        }
    }
}
