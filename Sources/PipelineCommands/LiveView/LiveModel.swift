import JSONPath
import PipelineCore

/// What the live view shows: a line for each step, folded from events. Pure, so that frames can be compared in tests.
struct LiveModel: Sendable {
    /// One step's line.
    struct Line: Sendable, Hashable {
        enum Mark: Sendable, Hashable { case pending, active, waiting, succeeded, failed, skipped, unknown }

        let name: String
        var mark: Mark = .pending
        /// Bytes done and in all, and bytes per second.
        var done: Int64?
        var total: Int64?
        var rate: Double?
        /// Of a remote job: the share done, and the seconds left that hold with 50 and 90 %.
        var share: Double?
        var median: Double?
        var upper: Double?
        /// When what the estimate counts from was said.
        var estimatedAt: Timestamp?
        var started: Timestamp?
        var ended: Timestamp?
        var note: String?
    }

    private(set) var lines: [Line]
    private var places: [String: Int]

    init(stages: [String]) {
        lines = stages.map { Line(name: $0) }
        places = Dictionary(zip(stages, stages.indices), uniquingKeysWith: { first, _ in first })
    }

    /// Takes an event in.
    mutating func apply(_ event: JobEvent) {
        guard let name = event.step?.description else { return }
        let place = places[name] ?? lines.count
        if place == lines.count {
            lines.append(Line(name: name))
            places[name] = place
        }
        lines[place].apply(event)
        if event.kind == .resumeDeferred { hold(place, event) }
    }

    /// Shows what the rules of the background hold back: the step itself, or after its end the first that is to begin.
    private mutating func hold(_ place: Int, _ event: JobEvent) {
        let following = lines[place].ended == nil ? place : lines.firstIndex { $0.mark == .pending }
        guard let following else { return }
        lines[following].mark = .waiting
        lines[following].note = "held back until \(event.data["until"]?.string ?? "?")"
    }
}

extension LiveModel.Line {
    fileprivate mutating func apply(_ event: JobEvent) {
        switch event.kind {
        case .stageStarted, .stageResumed:
            mark = .active
            started = started ?? event.time
            note = nil
        case .stageWaiting: wait(event)
        case .stageUnknown: end(.unknown, event, "unknown whether the service took it")
        case .stageSucceeded: end(.succeeded, event, nil)
        case .stageFailed: end(.failed, event, title(event))
        case .stageCancelled: end(.skipped, event, "cancelled")
        case .stageSkipped: end(.skipped, event, "skipped")
        case .attemptFailed: note = title(event)
        case .stageWarned: note = event.data["message"]?.string
        case .transferProgress:
            done = ((event.data["sent"]?.number?.int ?? 0) + (event.data["received"]?.number?.int ?? 0)).asInt64
            total = event.data["total"]?.number?.int?.asInt64 ?? total
            rate = event.data["rate"]?.number?.double
        case .estimateChanged:
            share = event.data["share"]?.number?.double ?? share
            median = event.data["p50"]?.number?.double
            upper = event.data["p90"]?.number?.double
            estimatedAt = event.time
        default: break
        }
    }

    private mutating func wait(_ event: JobEvent) {
        let reason = event.data["reason"]?.string.flatMap(WaitReason.Kind.init(rawValue:))
        // A remote job that is polled is at work, though nothing of ours is.
        mark = reason == .poll ? .active : .waiting
        if reason == .poll { return }
        let until = event.data["until"]?.string.map { "until \($0)" } ?? ""
        note = [note, "waits \(until)"].compactMap { $0 }.joined(separator: "; ")
    }

    private mutating func end(_ mark: Mark, _ event: JobEvent, _ note: String?) {
        self.mark = mark
        self.note = note
        ended = event.time
    }

    private func title(_ event: JobEvent) -> String? { event.data["error"]?["title"]?.string }
}

extension Int {
    fileprivate var asInt64: Int64 { Int64(self) }
}
