import JSONPath
import PipelineCore

/// One step state and one event of each kind.
enum Samples {
    static let now = Timestamp(milliseconds: 1_790_000_000_000)
    static let failure = StepFailure("the service was busy", hint: "wait", status: 503)
    static let attempt = AttemptState(number: 2, failures: 1, noResponseCount: 1, failingSince: now + .seconds(-10))
    static let lost = UnknownSubmit(key: "k", since: now, reason: "the answer was lost")

    static let states: [StepState] = [
        .pending, .running(attempt), .waiting(attempt, .at(now + .seconds(5)), WaitReason(.retry, detail: "busy")),
        .unknown(attempt, lost), .succeeded(["id": "7"]), .failed(failure), .cancelled, .skipped,
    ]

    static let moreStates: [StepState] = [
        .running(AttemptState()), .waiting(AttemptState(), .resume, WaitReason(.interrupted)),
        .waiting(AttemptState(), .callback(orAt: nil), WaitReason(.callback)),
        .waiting(AttemptState(), .callback(orAt: now), WaitReason(.callback)), .succeeded([:]),
        .waiting(AttemptState(), .at(now), WaitReason(.poll, foretold: ForetoldEnd(now + .seconds(500), said: now))),
        .failed(
            StepFailure(
                "t", hint: "h", service: "s", request: "GET /", status: 404, body: "b", place: "a.json:1:2")),
    ]

    static let events: [String: StepEvent] = [
        "started": .started, "progressed": .progressed, "finished": .finished(["id": "7"]),
        "parked": .parked(.at(now + .seconds(9)), WaitReason(.poll)), "woken": .woken,
        "answered": failed(.answered), "definite": failed(.definite), "noSecret": failed(.secret),
        "lostTrack": .lostTrack(lost), "resolved": .resolved, "abandoned": .abandoned(failure),
        "interrupted": .interrupted(WaitReason(.interrupted)), "takenUp": .takenUp,
        "clockSet": .clockSet(.seconds(-3600)), "cancelled": .cancelled,
        "skipped": .skipped, "retried": .retried, "refused": .refused(failure), "renewing": .renewing,
        "restarted": .restarted, "renewed": .renewed(failure),
    ]

    static func failed(_ kind: AttemptFailure.Kind) -> StepEvent {
        .tryFailed(AttemptFailure(failure, kind: kind), RetryPolicy(), random: 0.5)
    }

    /// The table's word for an event.
    static func word(_ event: StepTransition.Event) -> String {
        String(event.kind.rawValue.split(separator: ".")[event.kind == .attemptFailed ? 0 : 1])
    }
}
