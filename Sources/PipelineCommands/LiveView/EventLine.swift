import JSONPath
import PipelineCore

/// One event in one line of plain words.
struct EventLine {
    /// The line; nil for events that are no change of state.
    let text: String?
    /// The line as a log has it, where nothing is left out.
    let whole: String

    init(_ event: JobEvent) {
        let step = event.step.map(\.description) ?? ""
        text =
            switch event.kind {
            case .jobStarted: "job \(event.job) started"
            case .jobResumed: "job \(event.job) resumed"
            case .jobSuspended: "job \(event.job) suspended"
            case .jobSucceeded: "job \(event.job) succeeded"
            case .jobFailed: "job \(event.job) failed"
            case .jobCancelled: "job \(event.job) cancelled"
            case .stageStarted: "\(step): started"
            case .stageResumed: nil
            case .stageWaiting: Self.waiting(step, event.data)
            case .stageUnknown: "\(step): unknown whether the service took it"
            case .stageWarned: "\(step): warning: \(event.data["message"]?.string ?? "")"
            case .stageSucceeded: "\(step): done"
            case .stageFailed: "\(step): failed: \(Self.title(event.data))"
            case .stageCancelled: "\(step): cancelled"
            case .stageSkipped: "\(step): skipped"
            case .attemptFailed: "\(step): try \(event.attempt ?? 1) failed: \(Self.title(event.data))"
            case .resumeDeferred: Self.deferred(step, event.data)
            case .transferProgress, .estimateChanged, .notificationSent: nil
            }
        whole = text ?? Self.quiet(event, step)
    }

    /// What nobody who waits for a job wants to read each time.
    private static func quiet(_ event: JobEvent, _ step: String) -> String {
        switch event.kind {
        case .stageWaiting: "\(step): asks again at \(event.data["until"]?.string ?? "?")"
        case .stageResumed: "\(step): goes on"
        case .notificationSent:
            "told of '\(event.data["on"]?.string ?? "?")' by \(event.data["sink"]?.string ?? "?")"
        default: [step, event.kind.rawValue].filter { !$0.isEmpty }.joined(separator: ": ")
        }
    }

    private static func title(_ data: JSONObject) -> String { data["error"]?["title"]?.string ?? "" }

    private static func deferred(_ step: String, _ data: JSONObject) -> String {
        "\(step): held back until \(data["until"]?.string ?? "?"): \(data["reason"]?.string ?? "the resume budget")"
    }

    private static func waiting(_ step: String, _ data: JSONObject) -> String? {
        switch data["reason"]?.string.flatMap(WaitReason.Kind.init(rawValue:)) {
        case .poll: nil
        case .retry, .refused: "\(step): tries again at \(data["until"]?.string ?? "?")"
        case .settle: "\(step): looks again for its submit at \(data["until"]?.string ?? "?")"
        case .callback: "\(step): waits for a push"
        default: "\(step): waits until \(data["until"]?.string ?? "resumed")"
        }
    }
}
