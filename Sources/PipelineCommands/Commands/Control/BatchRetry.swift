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

    /// What has failed of a batch, to begin it again from a stage on: the jobs of items, and the keys of those that never had
    /// one and begin at their first stage.
    static func failed(
        of batch: OwnedJob, in journal: Workspace.Journal
    ) async throws -> (jobs: [OwnedJob], keys: [String]) {
        var (jobs, keys): ([OwnedJob], [String]) = ([], [])
        for item in try await journal.items(of: batch.snapshot.record.id, in: [.failed], after: 0, limit: .max) {
            if let job = item.job {
                jobs += try await journal.jobs(JobQuery(prefix: job.text, limit: 1, isBrief: true))
            } else {
                keys.append(item.key)
            }
        }
        guard jobs.isEmpty, keys.isEmpty else { return (jobs, keys) }
        throw CommandError(
            .usage, "no item of batch \(batch.snapshot.record.key) has failed",
            hint: "'pipeline show \(batch.snapshot.record.key)' says what it has")
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
        // Its row is the batch's: begun again by itself, the batch would not know of it.
        guard let own = found.snapshot.record.item, !hasStage,
            let batch = try await journal.jobs(JobQuery(prefix: own.batch.text)).first
        else { return nil }
        return (batch, [own.key])
    }
}
