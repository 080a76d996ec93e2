import PipelineCore
import PipelineKit

/// The line for a person whose batch was cancelled while submits of its items had no answer: what they may have begun goes
/// on, and may have to be paid.
struct CancelledItemsNote {
    /// So many items are looked at; a batch has no more under way, unless it was told to.
    private static let most = 1000

    /// The line; nil where every submit was answered.
    static func line(of batch: JobSnapshot, _ journal: Workspace.Journal) async throws(JournalFailure) -> String? {
        var open: [String] = []
        for item in try await journal.items(of: batch.record.id, in: [.cancelled], after: 0, limit: most) {
            guard let id = item.job, let job = try await journal.snapshot(of: id) else { continue }
            if job.submits.values.contains(where: \.isOpen) { open.append(item.key) }
        }
        guard let first = open.first else { return nil }
        let subject = open.count == 1 ? "1 item that was cancelled has" : "\(open.count) items that were cancelled have"
        return "\(subject) a submit that was not answered: what it may have begun at the service goes on there, "
            + "e.g. pipeline show \(SafeText.line("\(batch.record.key)/\(first)"))"
    }
}
