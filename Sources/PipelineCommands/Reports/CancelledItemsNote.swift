import PipelineCore
import PipelineKit
import Synchronization

/// The keys of items, from many looks at once.
private final class FoundItems: Sendable { let keys = Mutex<[String]>([]) }

/// The line for a person whose batch was cancelled while submits of its items had no answer: what they may have begun goes
/// on, and may have to be paid.
struct CancelledItemsNote {
    /// The line; nil where every submit was answered.
    static func line(of batch: JobSnapshot, _ journal: Workspace.Journal) async throws(JournalFailure) -> String? {
        let found = FoundItems()
        try await journal.forEachJob(of: batch.record.id, in: [.cancelled]) { (id) throws(JournalFailure) in
            guard let job = try await journal.snapshot(of: id), job.submits.values.contains(where: \.isOpen) else {
                return
            }
            found.keys.withLock { $0.append(job.record.item?.key ?? id.text) }
        }
        let open = found.keys.withLock(\.self)
        guard let first = open.min() else { return nil }
        let subject = open.count == 1 ? "1 item that was cancelled has" : "\(open.count) items that were cancelled have"
        return "\(subject) a submit that was not answered: what it may have begun at the service goes on there, "
            + "e.g. pipeline show \(SafeText.line("\(batch.record.key)/\(first)"))"
    }
}
