import JSONPath
import PipelineCore
import PipelineKit

/// The items of a batch, as `list --items` shows them.
struct ItemList {
    private let batch: String
    private let state: ItemRecord.State?
    private let limit: Int?
    private let isJSON: Bool

    init(_ batch: String, state: ItemRecord.State?, limit: Int?, isJSON: Bool) {
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
                of: found.record.id, in: state?.rows, after: last, limit: min(rest, 1000))
            guard let end = page.last else { break }
            last = end.number
            for item in page where rest > 0 {
                let shown = try await ShownItem(item, of: found.record, in: journal, isBrief: !isJSON)
                if let state, shown.state != state { continue }
                rest -= 1
                if isJSON {
                    rows.append(shown.json)
                } else {
                    // An item is one line, whatever its key is.
                    console.data(SafeText.line(shown.line).replacing("\n", with: "\\u{a}"))
                }
            }
        }
        if isJSON {
            console.data(JSON.array(rows).prettyText())
        } else if state != nil, rest == limit ?? .max {
            console.note("no item matches; 'pipeline list --items \(batch)' shows all")
        }
    }
}

extension ItemRecord.State {
    /// The state of that name.
    init(named name: String) throws {
        if let state = Self(rawValue: name) { self = state; return }
        throw CommandError(
            .usage, "no item is ever '\(name)'",
            hint: "states of items: \(Self.allCases.map(\.rawValue).joined(separator: ", "))")
    }
}

extension ItemRecord {
    /// The state of the item: one that is under way is what its job is, and waits where its job does for somebody who takes it
    /// up; after a crash nobody runs it.
    func state(by job: OwnedJob?) -> State {
        guard state == .running, let job, job.snapshot.ended == nil else { return state }
        if job.owner == nil, job.snapshot.isQueued { return .waiting }
        return State(job.phase)
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
        job = isBrief && item.state != .running ? nil : try await journal.job(of: item, isBrief: isBrief)
    }

    var state: ItemRecord.State { item.state(by: job) }

    var line: String {
        let error = item.failure.map { "  " + ($0.stage.map { "\($0): " } ?? "") + $0.failure.title } ?? ""
        return "\(item.number)  \(state.rawValue)  \(item.key)\(error)"
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
        row["state"] = .string(state.rawValue)
        if let cost = item.cost { row["cost"] = .number(JSONNumber(cost)) }
        if let failure = item.failure { row["error"] = failure.failure.json }
        return .object(row)
    }

    /// All that is known of an item without a job.
    var lines: [String] {
        var lines = ["item      \(item.key)  of batch \(batch.key)", "state     \(state.rawValue)"]
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

extension WorkspaceJournal {
    /// Gives the items of a batch in a state, or all, page by page. One that is under way is what its job is.
    func forEachItem(
        of batch: JobID, in state: ItemRecord.State? = nil, _ body: (ItemRecord) -> Void
    ) async throws {
        var last = 0
        while true {
            let page = try await items(of: batch, in: state?.rows, after: last, limit: 1000)
            guard let end = page.last else { return }
            last = end.number
            for var item in page {
                if item.state == .running { item.state = item.state(by: try await job(of: item)) }
                if state == nil || item.state == state { body(item) }
            }
        }
    }

    /// The job of an item; nil before it is begun.
    func job(of item: ItemRecord, isBrief: Bool = true) async throws -> OwnedJob? {
        guard let id = item.job else { return nil }
        return try await jobs(JobQuery(prefix: id.text, limit: 1, isBrief: isBrief)).first
    }

    /// The batch that a person names; an error for a job that is none.
    func batchNamed(_ name: String) async throws -> JobSnapshot {
        let found = try await JobName(name).find(in: self).snapshot
        guard found.batch == nil else { return found }
        throw CommandError(
            .usage, "'\(name)' is one job, not a batch", hint: "'pipeline show \(name)' shows it")
    }
}
