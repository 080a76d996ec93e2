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

    /// The state of that name.
    static func state(_ name: String) throws -> ItemRecord.State {
        if let state = ItemRecord.State(rawValue: name) { return state }
        let names = ItemRecord.State.allCases.map(\.rawValue).joined(separator: ", ")
        throw CommandError(.usage, "no item is ever '\(name)'", hint: "states of items: \(names)")
    }

    /// The state of jobs of that name.
    static func phase(_ name: String) throws -> JobPhase {
        if let phase = JobPhase(rawValue: name) { return phase }
        let names = JobPhase.allCases.map(\.rawValue).joined(separator: ", ")
        throw CommandError(.usage, "no job is ever '\(name)'", hint: "states: \(names)")
    }

    func show(in journal: Workspace.Journal, _ console: Console) async throws {
        let found = try await journal.batchNamed(batch)
        var rows: [JSON] = []
        try await journal.forEachItem(of: found.record.id, in: state.map { [$0] }, limit: limit) { item in
            if isJSON {
                rows.append(row(item, found.record))
            } else {
                let error = item.failure.map { "  " + ($0.stage.map { "\($0): " } ?? "") + $0.failure.title } ?? ""
                console.data(SafeText.line("\(item.number)  \(item.state.rawValue)  \(item.key)\(error)"))
            }
        }
        if isJSON { console.data(JSON.array(rows).prettyText()) }
    }

    private func row(_ item: ItemRecord, _ batch: JobRecord) -> JSON {
        [
            "job": JSON(item.job?.text), "pipeline": .string(batch.pipeline),
            "key": .string("\(batch.key).\(item.number)"), "item": .string(item.key),
            "state": .string(item.state.rawValue), "cause": .null, "started": .null,
            "ended": JSON(item.ended?.description), "estimate": .null,
            "error": item.failure?.failure.json ?? .null, "files": .array(item.files.map { .string($0) }),
        ]
    }
}

extension BatchJournal {
    /// Reads the items of a batch page by page.
    func forEachItem(
        of batch: JobID, in states: Set<ItemRecord.State>?, limit: Int? = nil, _ body: (ItemRecord) -> Void
    ) async throws {
        var (last, rest) = (0, limit ?? .max)
        while rest > 0 {
            let page = try await items(of: batch, in: states, after: last, limit: min(rest, 1000))
            guard let end = page.last else { return }
            last = end.number
            rest -= page.count
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
