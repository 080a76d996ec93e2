import PipelineCore
import PipelineKit
import Synchronization

/// The lines about items of a batch that go on with what was sent of files which were mended since: the first few, and that
/// there are more.
final class ItemChangeNotes: Sendable {
    private static let most = 5

    private let count = Mutex(0)
    private let show: @Sendable (String) -> Void

    init(show: @escaping @Sendable (String) -> Void) { self.show = show }

    /// An item is gone on with; of which some stages begin as if they had never run.
    func note(_ job: JobSnapshot, begunAnew: Set<String>) {
        guard let change = ChangeNote.file(of: job, begunAnew: begunAnew) else { return }
        let before = count.withLock { count in
            defer { count += 1 }
            return count
        }
        if before < Self.most { show("note: \(SafeText.line(job.record.item?.key ?? "")): \(change.text)") }
        if before == Self.most { show("note: more items do; 'pipeline show BATCH/ITEM' says it of each") }
    }
}
