import JSONPath
import PipelineCore
import PipelineKit

/// The content of the live view: a line for each stage, with counts of its items, and for each item that is at work or
/// went wrong. Folded from events and pure, so that frames can be compared in tests.
struct LiveModel: Sendable {
    enum Mark: Sendable, Hashable { case pending, active, waiting, succeeded, failed, skipped, unknown }

    /// One step's line.
    struct Line: Sendable, Hashable {
        let name: String
        var isItem = false
        var mark: Mark = .pending
        /// Bytes done and in all, and bytes per second.
        var done: Int64?
        var total: Int64?
        var rate: Double?
        /// Of a remote job: the share done, and the seconds left that hold with 50 and 90 %.
        var share: Double?
        var median: Double?
        var upper: Double?
        /// The time when what the estimate counts from was said.
        var estimatedAt: Timestamp?
        var started: Timestamp?
        var ended: Timestamp?
        var note: Note?
        /// Of a stage that is repeated: how its items stand.
        var items: Items?
    }

    /// A remark after the name; the times in it are said as they are when it is shown.
    struct Note: Sendable, Hashable {
        var text: String
        var until: Timestamp?
    }

    /// The counts of a stage's items.
    struct Items: Sendable, Hashable {
        /// The number of there that are; nil where that is not known yet.
        var total: Int?
        var counts: [Mark: Int] = [:]

        /// The number that have ended well or were skipped.
        var done: Int { counts[.succeeded, default: 0] + counts[.skipped, default: 0] }
        var failed: Int { counts[.failed, default: 0] + counts[.unknown, default: 0] }
        var active: Int { counts[.active, default: 0] }
        var waiting: Int { counts[.waiting, default: 0] }
    }

    private struct Stage: Sendable {
        var line: Line
        /// The items that are at work or went wrong.
        var items: [Int: Line] = [:]
        var marks: [Int: Mark] = [:]
    }

    private var stages: [Stage]
    private var places: [String: Int]

    init(stages names: [String]) {
        stages = names.map { Stage(line: Line(name: $0)) }
        places = Dictionary(zip(names, names.indices), uniquingKeysWith: { first, _ in first })
    }

    /// The lines, each stage followed by its items.
    var lines: [Line] {
        stages.flatMap { stage in [stage.line] + stage.items.sorted { $0.key < $1.key }.map(\.value) }
    }

    /// Applies an event.
    mutating func apply(_ event: JobEvent) {
        guard let step = event.step else { return }
        change(step) { $0.apply(event) }
        if event.kind == .resumeDeferred { hold(step, event) }
    }

    /// Shows how the steps of a job stood before its first event here; what an event told of is newer.
    mutating func seed(_ job: JobSnapshot) {
        for (key, step) in job.steps {
            let place = place(of: key.stage)
            let known = key.item.map { stages[place].marks[$0] ?? .pending } ?? stages[place].line.mark
            guard known == .pending, step.state.isEnded else { continue }
            change(key) { $0.seed(step) }
        }
        for (stage, count) in job.itemCounts { expect(count, of: stage) }
    }

    /// Says how many items the stage has.
    mutating func expect(_ count: Int, of stage: String) {
        let place = place(of: stage)
        stages[place].line.items = stages[place].line.items ?? Items()
        stages[place].line.items?.total = count
    }

    private mutating func place(of stage: String) -> Int {
        if let place = places[stage] { return place }
        places[stage] = stages.count
        stages.append(Stage(line: Line(name: stage)))
        return stages.count - 1
    }

    private mutating func change(_ step: StepKey, _ change: (inout Line) -> Void) {
        let place = place(of: step.stage)
        guard let item = step.item else { return change(&stages[place].line) }
        var line = stages[place].items[item] ?? Line(name: step.description, isItem: true)
        let before = stages[place].marks[item]
        change(&line)
        if line.mark == .pending, before == nil { return }
        var items = stages[place].line.items ?? Items()
        if let before { items.counts[before, default: 0] -= 1 }
        items.counts[line.mark, default: 0] += 1
        stages[place].line.items = items
        stages[place].marks[item] = line.mark
        let isOver = [.succeeded, .skipped].contains(line.mark)
        if isOver, let done = line.done { stages[place].line.done = (stages[place].line.done ?? 0) + done }
        stages[place].items[item] = isOver ? nil : line
    }

    /// Shows what the rules of the background hold back: the step itself, or after its end the first that is to begin.
    private mutating func hold(_ step: StepKey, _ event: JobEvent) {
        let place = place(of: step.stage)
        let line = step.item.flatMap { stages[place].items[$0] } ?? stages[place].line
        let until = event.data["until"]?.moment.map { " until \(TimeText(now: event.time).clock($0))" } ?? ""
        let note = Note(text: "held back\(until)")
        if line.ended == nil {
            change(step) { ($0.mark, $0.note) = (.waiting, note) }
        } else if let following = stages.firstIndex(where: { $0.line.mark == .pending }) {
            (stages[following].line.mark, stages[following].line.note) = (.waiting, note)
        }
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
        case .attemptFailed: note = title(event).map { LiveModel.Note(text: $0) }
        case .stageWarned: note = event.data["message"]?.string.map { LiveModel.Note(text: $0) }
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

    fileprivate mutating func seed(_ step: StepRecord) {
        (started, ended) = (step.started, step.ended)
        let bytes = step.bytesSent + step.bytesReceived
        if bytes > 0 { done = bytes }
        switch step.state {
        case .succeeded: mark = .succeeded
        case .failed(let failure): (mark, note) = (.failed, LiveModel.Note(text: failure.title))
        case .skipped, .cancelled: (mark, note) = (.skipped, LiveModel.Note(text: step.state.name.rawValue))
        case .pending, .running, .waiting, .unknown: break
        }
    }

    private mutating func wait(_ event: JobEvent) {
        let reason = event.data["reason"]?.string.flatMap(WaitReason.Kind.init(rawValue:))
        let trouble = event.trouble
        // A remote job that is polled is at work, though nothing of ours is.
        let isAsked = reason == .poll && trouble == nil
        mark = isAsked ? .active : .waiting
        if isAsked { return }
        let until = event.data["until"]?.moment
        if let trouble { note = LiveModel.Note(text: trouble) }
        let words = until == nil ? "waits" : reason?.verb ?? "goes on"
        note = LiveModel.Note(text: [note?.text, words].compactMap(\.self).joined(separator: "; "), until: until)
    }

    private mutating func end(_ mark: LiveModel.Mark, _ event: JobEvent, _ note: String?) {
        self.mark = mark
        self.note = note.map { LiveModel.Note(text: $0) }
        ended = event.time
    }

    private func title(_ event: JobEvent) -> String? { event.data["error"]?["title"]?.string }
}

extension JobSnapshot {
    /// The number of items that each repeated stage has.
    var itemCounts: [String: Int] {
        steps.keys.reduce(into: [:]) { counts, key in if key.item != nil { counts[key.stage, default: 0] += 1 } }
    }
}

extension Int {
    fileprivate var asInt64: Int64 { Int64(self) }
}
