import PipelineCore
import PipelineKit

/// What a person is to do about items of which nobody knows whether their submits were taken.
struct UnknownItemsNote {
    private(set) var lines: [String] = []

    /// The number of items that are named.
    private static let mostNamed = 5

    init(of batch: JobID, _ text: BatchText, _ journal: Workspace.Journal, _ workspace: Workspace) async throws {
        var what: String?
        for item in try await journal.items(of: batch, in: [.unknown], after: 0, limit: Self.mostNamed) {
            lines.append("unknown: \(item.key); see: pipeline why \(text.path(of: item.key))")
            guard what == nil, let id = item.job, let job = try await journal.snapshot(of: id) else { continue }
            let submits = UnknownSubmits(of: job, in: workspace.exchanges.records(of: id))
            if !submits.accepted.isEmpty {
                what = "if the last response has what is captured, mend \"capture\""
            } else if !submits.lookedUp.isEmpty {
                what = "if the look-up, or \"capture\", is wrong, mend it"
            }
        }
        let more = text.batch.count(.unknown) - lines.count
        if more > 0, lines.count == Self.mostNamed { lines.append("unknown: \(more) more") }
        if let what { lines.append("  hint: \(what), then 'pipeline run … --each …' again, with --changed") }
    }
}
