import JSONPath
import PipelineCore
import Synchronization

/// One line for each change of a stage's state, for pipes, logs and screen readers. The items of a stage are counted: a line
/// tells of the first failures, and every ten seconds of how many are done.
final class PlainView: EventView {
    /// The items of one stage.
    private struct Items {
        var done: Set<Int> = []
        var failed: Set<Int> = []
        var total: Int?
        /// The time when the last line told of them.
        var told: Timestamp?
        /// The number of lines that told of each kind of event.
        var lines: [JobEvent.Kind: Int] = [:]

        var text: StyledText {
            let done = done.count
            let count = total.map { "\(done) of \($0) items done" } ?? "\(done) item\(done == 1 ? "" : "s") done"
            return failed.isEmpty ? "\(count)" : "\(count), \("\(failed.count) failed", .red)"
        }
    }

    /// The trouble of each stage's polls that was told last, and when.
    private struct Troubles {
        var told: [String: (text: String, time: Timestamp)] = [:]

        /// Returns whether it is another one than before, or so old that it is told again.
        mutating func take(_ text: String, of stage: String, at time: Timestamp) -> Bool {
            if let last = told[stage], last.text == text, time - last.time < PlainView.reminder { return false }
            told[stage] = (text, time)
            return true
        }
    }

    private static let interval = Duration.seconds(10)
    private static let reminder = Duration.seconds(60)
    /// That many lines tell of items' failures, of their failed attempts, and of warnings.
    private static let most: [JobEvent.Kind: Int] = [
        .stageFailed: 10, .stageUnknown: 10, .stageWarned: 10, .attemptFailed: 1, .stageWaiting: 1, .resumeDeferred: 1,
    ]

    private let console: Console
    private let items = Mutex<[String: Items]>([:])
    private let troubles = Mutex(Troubles())

    init(console: Console) { self.console = console }

    func show(_ event: JobEvent) {
        if let trouble = event.trouble, let stage = event.step?.stage,
            !troubles.withLock({ $0.take(trouble, of: stage, at: event.time) })
        {
            return
        }
        let told = items.withLock { items -> [StyledText] in Self.lines(for: event, &items) }
        for line in told { console.note(line) }
    }

    func seed(_ job: JobSnapshot) {
        items.withLock { items in
            for (key, step) in job.steps where step.state.name == .succeeded || step.state.name == .skipped {
                if let item = key.item { items[key.stage, default: Items()].done.insert(item) }
            }
            for (stage, count) in job.itemCounts { items[stage, default: Items()].total = count }
        }
    }

    func expect(_ count: Int, itemsOf stage: String) {
        items.withLock { $0[stage, default: Items()].total = count }
    }

    func note(_ line: StyledText) { console.note(line) }
    func finish() {}

    private static func lines(for event: JobEvent, _ items: inout [String: Items]) -> [StyledText] {
        let line = EventLine(event).text
        guard let step = event.step else { return [line].compactMap(\.self) }
        guard let item = step.item else {
            guard let counted = items[step.stage], let line else { return [line].compactMap(\.self) }
            return event.kind == .stageSucceeded ? ["\(line): \(counted.text)"] : [line]
        }
        var counted = items[step.stage] ?? Items()
        defer { items[step.stage] = counted }
        switch event.kind {
        case .stageStarted:
            counted.done.remove(item)
            counted.failed.remove(item)
        case .stageSucceeded, .stageSkipped: counted.done.insert(item)
        case .stageFailed, .stageUnknown: counted.failed.insert(item)
        default: break
        }
        if event.trouble != nil, let line { return [line] }
        if let most = most[event.kind], let line {
            counted.lines[event.kind, default: 0] += 1
            if counted.lines[event.kind, default: 0] <= most { return [line] }
        }
        let told = counted.told ?? event.time
        counted.told = told
        guard event.time - told >= interval else { return [] }
        counted.told = event.time
        return ["\(step.stage): \(counted.text)"]
    }
}
