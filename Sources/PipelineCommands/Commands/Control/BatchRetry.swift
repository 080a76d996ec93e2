import PipelineCore
import PipelineKit

/// The meaning of `retry` for a batch or one of its items.
struct BatchRetry {
    private let found: OwnedJob
    private let item: String?
    private let hasStage: Bool

    /// The job or the batch of a name. An item that was cancelled before it was begun has no job: its batch, and its key.
    static func named(
        _ name: String, in journal: Workspace.Journal
    ) async throws -> (job: OwnedJob, item: String?) {
        guard let (item, batch) = try await JobName(name).itemWithoutJob(in: journal), item.attempt > 0 else {
            return (try await JobName(name).find(in: journal), nil)
        }
        return (try await JobName(batch.id.text).find(in: journal), item.key)
    }

    init(_ found: OwnedJob, item: String?, hasStage: Bool) {
        self.found = found
        self.item = item
        self.hasStage = hasStage
    }

    /// The batch, and the items to begin again, nil for all that failed; nil for a job of its own.
    func batch(in journal: Workspace.Journal) async throws -> (job: OwnedJob, items: [String]?)? {
        if found.snapshot.batch != nil {
            return (found, item.map { [$0] })
        }
        // Its row is the batch's: begun again by itself, the batch would not know of it. One that did
        // not fail is done again for its own sake.
        guard let own = found.snapshot.record.item, !hasStage || found.snapshot.phase(isOwned: false) == .failed,
            let batch = try await journal.jobs(JobQuery(prefix: own.batch.text)).first
        else { return nil }
        return (batch, [own.key])
    }
}
