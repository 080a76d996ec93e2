import JSONPath
import PipelineCore
import PipelineKit

/// The items of a batch, as `list --items` shows them.
struct ItemList {
    private let batch: String
    private let state: ItemState?
    private let limit: Int?
    private let isJSON: Bool

    init(_ batch: String, state: ItemState?, limit: Int?, isJSON: Bool) {
        self.batch = batch
        self.state = state
        self.limit = limit
        self.isJSON = isJSON
    }

    /// The state of jobs of that name.
    static func phase(_ name: String) throws -> JobPhase {
        if let phase = JobPhase(rawValue: name) { return phase }
        let names = JobPhase.allCases.map(\.rawValue).joined(separator: ", ")
        throw CommandError(.usage, "no job is ever '\(name)'", hint: "states: \(names)")
    }

    func show(in journal: Workspace.Journal, _ console: Console) async throws {
        let found = try await journal.batchNamed(batch)
        var (rows, last, rest) = ([JSON](), 0, limit ?? .max)
        while rest > 0 {
            let page = try await journal.items(
                of: found.record.id, in: state.map { $0.rows }, after: last, limit: min(rest, 1000))
            guard let end = page.last else { break }
            last = end.number
            for item in page where rest > 0 {
                let shown = try await ShownItem(item, of: found.record, in: journal, isBrief: !isJSON)
                if let state, shown.state != state.name { continue }
                rest -= 1
                if isJSON { rows.append(shown.json) } else { console.data(SafeText.line(shown.line)) }
            }
        }
        if isJSON { console.data(JSON.array(rows).prettyText()) }
    }
}

/// The state of an item as people ask for it: that of its row, or `waiting`. A row says of an item under way that it runs;
/// only its job knows that it waits, or that nobody runs it.
enum ItemState: Equatable {
    case row(ItemRecord.State)
    case waiting

    static let names = ItemRecord.State.allCases.flatMap { $0 == .running ? ["running", "waiting"] : [$0.rawValue] }

    /// The state of that name.
    init(_ name: String) throws {
        if name == Self.waiting.name {
            self = .waiting
            return
        }
        if let state = ItemRecord.State(rawValue: name) { self = .row(state); return }
        throw CommandError(
            .usage, "no item is ever '\(name)'", hint: "states of items: \(Self.names.joined(separator: ", "))")
    }

    var name: String {
        switch self {
        case .waiting: "waiting"
        case .row(let state): state.rawValue
        }
    }

    /// The states of the rows among which such items are.
    var rows: Set<ItemRecord.State> {
        switch self {
        case .waiting: [.running]
        case .row(.suspended): [.suspended, .running]
        case .row(let state): [state]
        }
    }
}

/// An item with what its job says of it.
struct ShownItem {
    private let item: ItemRecord
    private let batch: JobRecord
    private let job: OwnedJob?

    /// - Parameter isBrief: looks only for what the row does not say.
    init(_ item: ItemRecord, of batch: JobRecord, in journal: Workspace.Journal, isBrief: Bool) async throws {
        (self.item, self.batch) = (item, batch)
        guard let id = item.job, !isBrief || item.state == .running else {
            job = nil
            return
        }
        job = try await journal.jobs(JobQuery(prefix: id.text, limit: 1, isBrief: isBrief)).first
    }

    /// What is under way is what its job is: after a crash nobody runs it.
    var state: String {
        guard item.state == .running, let job, job.snapshot.ended == nil else { return item.state.rawValue }
        return job.snapshot.phase(isOwned: job.owner != nil).rawValue
    }

    var line: String {
        let error = item.failure.map { "  " + ($0.stage.map { "\($0): " } ?? "") + $0.failure.title } ?? ""
        return "\(item.number)  \(state)  \(item.key)\(error)"
    }

    /// The form of `list --items --json`: that of `list`, and the item's key.
    var json: JSON {
        var row =
            job.flatMap { JobReport($0).summary.object } ?? [
                "job": .null, "pipeline": .string(batch.pipeline), "key": .null, "state": .null, "cause": .null,
                "started": .null, "ended": JSON(item.ended?.description), "estimate": .null, "error": .null,
                "files": [],
                "cost": .null,
            ]
        row["key"] = .string("\(batch.key).\(item.number)")
        row["item"] = .string(item.key)
        row["state"] = .string(state)
        if let cost = item.cost { row["cost"] = .number(JSONNumber(cost)) }
        if let failure = item.failure { row["error"] = failure.failure.json }
        return .object(row)
    }

    /// All that is known of an item without a job.
    var lines: [String] {
        var lines = ["item      \(item.key)  of batch \(batch.key)", "state     \(state)"]
        if let line = item.line { lines.append("line      \(line)") }
        if !item.inputs.isEmpty { lines.append("inputs    \(JSON.object(item.inputs).text)") }
        if let failure = item.failure { lines += ErrorReport.lines(of: failure.failure) }
        if item.state == .failed, item.attempt == 0 {
            lines.append("once its row is mended, run the same command again: it is read again")
        }
        return lines
    }

    /// The form of `show --json` of an item without a job.
    var detail: JSON {
        var row = json.object ?? [:]
        row["line"] = item.line.map { .number(JSONNumber($0)) } ?? .null
        row["inputs"] = .object(item.inputs)
        return .object(row)
    }
}

extension BatchJournal {
    /// Reads the items of a batch page by page.
    func forEachItem(
        of batch: JobID, in states: Set<ItemRecord.State>?, _ body: (ItemRecord) -> Void
    ) async throws {
        var last = 0
        while true {
            let page = try await items(of: batch, in: states, after: last, limit: 1000)
            guard let end = page.last else { return }
            last = end.number
            for item in page { body(item) }
        }
    }
}

extension WorkspaceJournal {
    /// The batch that a person names; an error for a job that is none.
    func batchNamed(_ name: String) async throws -> JobSnapshot {
        let found = try await JobName(name).find(in: self).snapshot
        guard found.batch == nil else { return found }
        throw CommandError(
            .usage, "'\(name)' is one job, not a batch", hint: "'pipeline show \(name)' shows it")
    }
}
