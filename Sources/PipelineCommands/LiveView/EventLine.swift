import JSONPath
import PipelineCore
import PipelineKit

/// One event in one line of plain words.
struct EventLine {
    /// The line; nil for events that are no change of state.
    let text: StyledText?
    /// The line as a log has it, where nothing is left out.
    let whole: StyledText

    init(_ event: JobEvent) {
        let step = event.step.map(\.description) ?? ""
        text =
            switch event.kind {
            case .jobStarted: "job \(event.job) started"
            case .jobResumed: "job \(event.job) resumed"
            case .jobSuspended: "job \(event.job) \("suspended", .yellow)"
            case .jobSucceeded: "job \(event.job) \("succeeded", .green)"
            case .jobFailed: "job \(event.job) \("failed", .red)"
            case .jobCancelled: "job \(event.job) cancelled"
            case .stageStarted: "\(step): \("started", .cyan)"
            case .stageResumed: nil
            case .stageWaiting: Self.waiting(step, event)
            case .stageUnknown: "\(step): \("unknown", .yellow) whether the service took it"
            case .stageWarned: "\(step): \("warning:", .yellow) \(event.data["message"]?.string ?? "")"
            case .stageSucceeded: "\(step): \("done", .green)"
            case .stageFailed: "\(step): \("failed:", .red) \(Self.title(event.data))"
            case .stageCancelled: "\(step): cancelled"
            case .stageSkipped: "\(step): skipped"
            case .attemptFailed: "\(step): \("try \(event.attempt ?? 1) failed:", .yellow) \(Self.title(event.data))"
            case .resumeDeferred: Self.deferred(step, event)
            case .transferProgress, .estimateChanged, .notificationSent: nil
            }
        whole = text ?? Self.quiet(event, step)
    }

    /// Returns what nobody who waits for a job wants to read each time.
    private static func quiet(_ event: JobEvent, _ step: String) -> StyledText {
        switch event.kind {
        case .stageWaiting: "\(step): asks again \(until(event) ?? "later")"
        case .stageResumed: "\(step): goes on"
        case .notificationSent:
            "told of '\(event.data["on"]?.string ?? "?")' by \(event.data["sink"]?.string ?? "?")"
        default: "\([step, event.kind.rawValue].filter { !$0.isEmpty }.joined(separator: ": "))"
        }
    }

    private static func title(_ data: JSONObject) -> String { data["error"]?["title"]?.string ?? "" }

    /// The datum `until`, as seen from the event; nil when it has none.
    private static func until(_ event: JobEvent) -> String? {
        event.data["until"]?.moment.map { TimeText(now: event.time).until($0) }
    }

    private static func deferred(_ step: String, _ event: JobEvent) -> StyledText {
        let time = event.data["until"]?.moment
        let clock = time.map { " until \(TimeText(now: event.time).clock($0))" } ?? ""
        let span = time.map { ", for \(DurationText.rounded(($0 - event.time).seconds))" } ?? ""
        let reason = event.data["reason"]?.string ?? "the resume budget"
        return "\(step): \("held back\(clock)", .yellow)\(span): \(reason)"
    }

    private static func waiting(_ step: String, _ event: JobEvent) -> StyledText? {
        switch event.data["reason"]?.string.flatMap(WaitReason.Kind.init(rawValue:)) {
        case .poll:
            event.trouble.map { "\(step): \($0, .yellow); asks again \(until(event) ?? "later")" }
        case .retry, .refused: "\(step): tries again \(until(event) ?? "later")"
        case .settle: "\(step): looks again for its submit \(until(event) ?? "later")"
        case .closed: "\(step): \(event.data["detail"]?.string ?? "held"); goes on \(until(event) ?? "later")"
        case .full: "\(step): \(event.data["detail"]?.string ?? "held"); looks again \(until(event) ?? "later")"
        case .callback: "\(step): waits for a push"
        default: "\(step): \(until(event).map { "goes on \($0)" } ?? "waits until resumed")"
        }
    }
}
