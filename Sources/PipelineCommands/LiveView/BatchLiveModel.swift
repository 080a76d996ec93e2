import PipelineCore
import PipelineKit

/// The content of a batch's live view: made of what is told of the batch and of the events of its items' jobs.
struct BatchLiveModel {
    private struct Stage {
        let id: String
        var done: Int
        var failed = 0
        var active: Set<JobID> = []
    }

    private let key: String
    private var batch: BatchRecord
    private let started: Timestamp
    private let endedBefore: Int
    private var stages: [Stage]
    /// The items at work by their jobs, with the stage that each is at.
    private var items: [JobID: (key: String, stage: String?)] = [:]
    private var failures: [String] = []
    private var failing = FailingItems()

    init(key: String, stages: [String], batch: BatchRecord, started: Timestamp) {
        self.key = key
        self.batch = batch
        self.started = started
        endedBefore = batch.endedCount
        self.stages = stages.map { Stage(id: $0, done: batch.count(.succeeded)) }
    }

    mutating func apply(_ event: JobEvent) {
        failing.apply(event)
        guard let step = event.step, step.item == nil, let index = stages.firstIndex(where: { $0.id == step.stage })
        else { return }
        switch event.kind {
        case .stageStarted, .stageResumed, .stageWaiting:
            stages[index].active.insert(event.job)
            items[event.job]?.stage = step.stage
        case .stageSucceeded, .stageSkipped:
            if stages[index].active.remove(event.job) != nil { stages[index].done += 1 }
        case .stageFailed:
            stages[index].active.remove(event.job)
            stages[index].failed += 1
        default: break
        }
    }

    mutating func apply(_ news: BatchNews) {
        switch news {
        case .read(_, let batch): self.batch = batch
        case .readAgain: break
        case .began(let item): if let job = item.job { items[job] = (item.key, nil) }
        case .finished(let item, let batch):
            self.batch = batch
            if let job = item.job {
                items[job] = nil
                failing.remove(job)
                for index in stages.indices { stages[index].active.remove(job) }
            }
            guard item.state == .failed, let failure = item.failure else { return }
            failures.append("\(item.key): \(failure.failure.title)")
            if failures.count > 3 { failures.removeFirst() }
        }
    }

    /// Rows no wider than the window, and no more than it can redraw.
    func rows(width: Int, height: Int, now: Timestamp) -> [StyledText] {
        let names = min(24, ([key] + stages.map(\.id)).map { TextColumns.count($0) }.max() ?? 0)
        var rows = [head(names, now)]
        let waits = failing.lines(ofAtWork: max(items.count, batch.underWayCount))
        // Where there is no room for all, what keeps the items from going on is worth more than the last stages.
        let stageRoom = height - 2 - min(waits.count, 2)
        for stage in stages.prefix(max(0, stageRoom)) { rows.append(row(of: stage, names)) }
        rows += waits.prefix(max(0, height - rows.count))
        let said = failures.map { StyledText("✗ \($0)", .red) }
        let room = height - rows.count - said.count
        let named = items.values.sorted { ($0.stage ?? "~", $0.key) < ($1.stage ?? "~", $1.key) }
        for item in named.prefix(max(0, min(room, 8))) {
            rows.append("  \(item.key)\(item.stage.map { "  \($0)" } ?? "", .dim)")
        }
        rows += said.suffix(max(0, height - rows.count))
        return rows.map { $0.fitted(to: max(1, width - 1)) }
    }

    private func head(_ names: Int, _ now: Timestamp) -> StyledText {
        let total = batch.itemCount
        var text: StyledText =
            "\(StyledText(key).padded(to: names))  \(Self.bar(batch.endedCount, total), .green) "
            + "\(batch.endedCount)/\(total)\(batch.isRead ? "" : "+")"
        if batch.count(.failed) > 0 { text += "  \("✗\(batch.count(.failed))", .red)" }
        if !items.isEmpty { text += "  \(items.count) at work" }
        let (ended, seconds) = (batch.endedCount - endedBefore, (now - started).seconds)
        if batch.isRead, ended > 0, seconds > 2, total > batch.endedCount {
            text += "  \(DurationText.rounded(Double(total - batch.endedCount) * seconds / Double(ended))) left"
        }
        if let cost = batch.cost { text += "  cost \(AmountText.describe(cost))" }
        return text
    }

    private func row(of stage: Stage, _ names: Int) -> StyledText {
        let total = batch.itemCount
        // Who looks on from another process has not seen all of them.
        let done = max(stage.done, batch.count(.succeeded))
        var text: StyledText =
            "\(StyledText(stage.id).padded(to: names))  \(Self.bar(done, total), .cyan) "
            + "\(done)/\(total)\(batch.isRead ? "" : "+")"
        if stage.failed > 0 { text += "  \("✗\(stage.failed)", .red)" }
        if !stage.active.isEmpty { text += "  \(stage.active.count) at work" }
        return text
    }

    private static func bar(_ done: Int, _ total: Int) -> String {
        let filled = total > 0 ? min(10, done * 10 / total) : 0
        return String(repeating: "█", count: filled) + String(repeating: "░", count: 10 - filled)
    }
}
