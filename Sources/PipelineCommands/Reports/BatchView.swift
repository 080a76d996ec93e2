import JSONPath
import PipelineCore
import PipelineKit
import Synchronization

/// Shows the items of a batch as they end: files on standard output, failures and progress on standard error; with `--json`
/// all events.
final class BatchView: Sendable {
    private struct State {
        var batch: BatchRecord?
        var changed: [String] = []
        /// The last line of how far it is.
        var told: String?
        var live: BatchLiveView?
        var failures = FailureNotice()
        /// The keys of the items at work.
        var names: [JobID: String] = [:]
        /// The number of warnings of each stage.
        var warnings: [String: Int] = [:]
    }

    /// That many warnings of a stage are told.
    private static let mostWarnings = 3

    private let console: Console
    let key: String
    private let job: JobRecord
    private let plan: Plan
    private let isJSON: Bool
    private let known: KnownItemRule
    /// True where another process runs the batch, and has told of its files.
    private let isOnlooker: Bool
    private let state = Mutex(State())

    init(
        _ console: Console, key: String, job: JobRecord, plan: Plan, isJSON: Bool,
        known: KnownItemRule = KnownItemRule(), isOnlooker: Bool = false
    ) {
        self.known = known
        self.isOnlooker = isOnlooker
        self.console = console
        self.key = key
        self.job = job
        self.plan = plan
        self.isJSON = isJSON
    }

    /// Draws on a terminal what else is told in lines; nil without one.
    var live: BatchLiveView? {
        get { state.withLock { $0.live } }
        set { state.withLock { $0.live = newValue } }
    }

    func start(_ batch: BatchRecord) {
        state.withLock { $0.batch = batch }
        if isJSON {
            console.data(BatchText(key: key, batch: batch).event("batch.started", job))
        } else {
            console.note("batch \(key)")
        }
    }

    /// An event of an item's job.
    func show(_ event: JobEvent) {
        if isJSON { return console.data(event.json.text) }
        state.withLock { $0.failures.apply(event) }
        live?.show(event)
        for line in warnings(of: event) { live?.note(line) ?? console.note(line) }
    }

    /// What an item is warned of. Many of them are warned alike: the first of a stage stand for the others.
    private func warnings(of event: JobEvent) -> [String] {
        guard event.kind == .stageWarned, let stage = event.step?.stage else { return [] }
        let line = EventLine(event).whole.rendered(inColor: false)
        let (count, name) = state.withLock { state in
            state.warnings[stage, default: 0] += 1
            return (state.warnings[stage] ?? 0, state.names[event.job] ?? event.job.text)
        }
        switch count {
        case ...Self.mostWarnings: return ["\(name): \(line)"]
        case Self.mostWarnings + 1:
            return ["more items are warned at \(stage), as \(name) is: pipeline show \(key)/ITEM"]
        default: return []
        }
    }

    func take(_ news: BatchNews) {
        let live = live
        live?.take(news)
        switch news {
        case .began(let item): state.withLock { state in if let job = item.job { state.names[job] = item.key } }
        case .readAgain(let path):
            let line = "note: \(path) has changed since it was read in part; it is read again, and what is known stays"
            live?.note(SafeText.line(line)) ?? console.note(SafeText.line(line))
        case .read(let added, let batch):
            state.withLock { state in
                state.batch = batch
                if !state.changed.isEmpty { state.changed.removeAll(where: Set(added.changed).contains) }
                let left = known.replacesChanged ? added.underWay.map(\.key) : added.changed
                state.changed += left.prefix(max(0, 1000 - state.changed.count))
            }
            for row in added.bad {
                if isJSON {
                    console.data(BatchText(key: key, batch: batch).event("batch.row", job, data: row.json))
                    continue
                }
                let place = row.place.map { " (\($0))" } ?? ""
                let line = SafeText.line("✗ \(row.key)\(place): \(row.failure?.title ?? "")")
                live?.note(line) ?? console.note(line)
            }
        case .finished(let item, let batch):
            state.withLock { state in
                state.batch = batch
                if let job = item.job {
                    state.failures.remove(job)
                    state.names[job] = nil
                }
            }
            if isJSON { return }
            if !isOnlooker, item.state == .succeeded {
                for file in item.files { live?.data(file) ?? console.data(file) }
            }
            if live == nil, item.state == .failed, let failure = item.failure {
                let stage = failure.stage.map { "stage '\($0)': " } ?? ""
                console.note("✗ \(item.key): \(stage)\(failure.failure.title)")
            }
            if live == nil, item.state == .unknown {
                console.note("? \(item.key): \(item.failure?.failure.title ?? "its submit is unknown")")
            }
        }
    }

    func note(_ line: String) {
        if let live { live.note(line) } else { console.note(line) }
    }

    /// One line of how far it is, and why it gets no further where attempts fail.
    func showProgress() {
        let live = live
        guard let batch = state.withLock({ $0.batch }) else { return }
        let text = BatchText(key: key, batch: batch)
        let isNews = state.withLock { state in
            defer { state.told = text.counts }
            return state.told != text.counts
        }
        if isJSON {
            if isNews { console.data(text.event("batch.progress", job)) }
            return
        }
        if live == nil, isNews { console.note(text.counts) }
        let message = state.withLock { $0.failures.look(atWork: batch.underWayCount, batch: key) }
        guard let message else { return }
        // The live view has these lines as long as they hold.
        if live == nil { for line in message.lines { console.note(line) } }
        guard let note = message.stage.flatMap({ WaitNote(of: $0, in: plan) }) else { return }
        live?.note(note.line) ?? console.note(note.line)
    }

    /// Says which items were left alone although their row says something else by now, and returns the keys of the first
    /// thousand.
    func noteChanges() -> [String] {
        let changed = state.withLock { $0.changed }
        guard let first = changed.first else { return [] }
        let count = changed.count >= 1000 ? "1000 or more" : "\(changed.count)"
        let isOne = changed.count == 1
        let why = known.replacesChanged ? ", for \(isOne ? "it has" : "they have") not ended" : ""
        console.note(
            isOne
                ? "note: \(first) has other inputs than before and was left alone\(why)"
                : "note: \(count) items have other inputs than before and were left alone\(why), e.g. \(first)")
        console.note(
            "  hint: --changed does \(isOne ? "it" : "them") again" + (why.isEmpty ? "" : " after that"))
        return changed
    }
}

extension NewItem {
    /// A row that can't be begun, as `batch.row` tells it.
    fileprivate var json: JSONObject {
        [
            "item": .string(key), "line": line.map { .number(JSONNumber($0)) } ?? .null, "place": JSON(place),
            "error": failure.map(\.json) ?? .null,
        ]
    }
}
