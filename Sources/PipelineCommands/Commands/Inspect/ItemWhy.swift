import JSONPath
import PipelineCore
import PipelineKit

/// The answer of `why` for an item that was not begun: what of its batch it waits for, or what is wrong with its row.
struct ItemWhy {
    private let item: ItemRecord
    private let batch: JobRecord

    init(_ item: ItemRecord, of batch: JobRecord) {
        self.item = item
        self.batch = batch
    }

    func show(on console: Console, isJSON: Bool, in journal: Workspace.Journal) async throws {
        let found = try await JobName(batch.id.text).find(in: journal)
        let advice = try await advice(found, journal)
        if isJSON {
            let cause = item.state == .pending && !item.isAside ? found.suspension : nil
            console.data(
                JSON.object([
                    "job": .null, "state": .string(item.state.rawValue), "cause": JSON(cause?.rawValue),
                    "advice": JSON(advice), "steps": [], "background": .null, "notifications": [],
                ]).prettyText())
            return
        }
        console.data(SafeText.line("item \(item.key) of batch \(batch.key): \(reason(found))"))
        if let advice { console.data("  \("do:", .cyan) \(advice)" as StyledText) }
    }

    private func reason(_ found: OwnedJob) -> String {
        guard item.state == .pending else {
            let told = item.state == .duplicate ? "its key came before" : item.failure?.failure.title
            return item.state.rawValue + (told.map { ", \($0)" } ?? "")
        }
        if item.isAside { return "pending, and no row of the last reading names it" }
        if let why = found.suspensionText { return "pending, and the batch is suspended: \(why)" }
        guard found.owner != nil, let batch = found.snapshot.batch else { return "pending" }
        return "it waits for its turn: \(batch.underWayCount) are at work, of at most \(batch.settings.atOnce)"
    }

    private func advice(_ found: OwnedJob, _ journal: Workspace.Journal) async throws -> String? {
        switch item.state {
        case .pending where item.isAside: return "name it in a row again, and run the same command"
        case .pending:
            let asked = try await found.adviceUntilTaken(in: journal, resume: "pipeline resume \(batch.key)")
            return try await found.placed(asked ?? found.batchAdvice, in: journal)
        case .failed where item.attempt == 0: return "mend its row, and run the same command again"
        case .failed, .cancelled:
            return try await found.placed("pipeline retry \(ShellWord.quoted("\(batch.key)/\(item.key)"))", in: journal)
        default: return nil
        }
    }
}
