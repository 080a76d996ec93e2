import PipelineCore
import PipelineKit

/// The line for a person whose batch ended with failed items: what begins them again.
struct FailedItemsWay {
    private let batch: JobSnapshot
    private let journal: Workspace.Journal

    init(of batch: JobSnapshot, _ journal: Workspace.Journal) { (self.batch, self.journal) = (batch, journal) }

    /// - Parameters:
    ///   - failures: the reasons why they failed.
    ///   - changed: the items that were left alone although their rows say something else by now.
    func line(_ failures: [FailureGroup], changed: [String]) async throws(JournalFailure) -> String {
        guard failures.contains(where: \.wasBegun) else {
            return "once the rows are mended, run the same command again: what is done stays done"
        }
        if !changed.isEmpty {
            let keys = try await journal.items(of: batch.record.id, in: [.failed], after: 0, limit: 1000).map(\.key)
            let failed = Set(keys).intersection(changed)
            if !failed.isEmpty {
                return
                    "begin what failed again, as its rows are by now, by the same command with --changed --retry-failed"
                    + (failed.count < changed.count ? "; it does all that have other inputs again" : "")
            }
        }
        let failed = try await journal.items(of: batch.record.id, in: [.failed], after: 0, limit: 1).first
        if let item = failed?.job, let digest = try await journal.snapshot(of: item)?.record.digest,
            digest != batch.record.digest
        {
            return "what failed was begun with the document of before; begin it again with the batch's by the same "
                + "'pipeline run' with --changed --retry-failed"
        }
        let overwrite = failed?.failure?.failure.hint?.contains("--overwrite") == true ? " --overwrite" : ""
        let way = "once mended, begin what failed again with: pipeline retry \(batch.record.key)\(overwrite)"
        guard failed?.failure?.failure.mayBeOfDocument == true else { return way }
        return way + "; once the document is mended, by the same 'pipeline run' with --changed --retry-failed"
    }
}
