import PipelineCore
import PipelineKit

/// The meaning of `retry` for a batch or one of its items.
struct BatchRetry {
    /// A batch, and the keys of its items to begin again, nil for all that failed.
    struct Target {
        let batch: OwnedJob
        fileprivate(set) var items: [String]?
    }

    private let found: OwnedJob
    private let item: String?
    private let hasStage: Bool

    /// The job or the batch of a name; with the key of an item the job of that one of a batch. An item that was cancelled
    /// before it was begun has no job: its batch, and its key.
    static func named(
        _ name: String, item: String?, in journal: Workspace.Journal
    ) async throws -> (job: OwnedJob, item: String?) {
        guard let (own, batch) = try await JobName(name).itemWithoutJob(in: journal), own.attempt > 0 else {
            let found = try await JobName(name).find(in: journal)
            guard let item else { return (found, nil) }
            guard found.snapshot.batch != nil else {
                if found.snapshot.record.item == nil { return (found, nil) }
                throw CommandError(
                    .usage, "of an item of a batch all begins again that failed, and no item of its own alone",
                    hint: "leave --item out: pipeline retry \(name)")
            }
            guard let job = try await journal.item(item, of: found.snapshot.record.id)?.job else { return (found, nil) }
            return (try await JobName(job.text).find(in: journal), nil)
        }
        return (try await JobName(batch.id.text).find(in: journal), own.key)
    }

    init(_ found: OwnedJob, item: String?, hasStage: Bool) {
        self.found = found
        self.item = item
        self.hasStage = hasStage
    }

    /// What to begin again of a batch; nil for a job of its own.
    func target(in journal: Workspace.Journal) async throws -> Target? {
        if found.snapshot.batch != nil {
            return Target(batch: found, items: item.map { [$0] })
        }
        // Its row is the batch's: begun again by itself, the batch would not know of it. One that has not ended is done again
        // for its own sake, and one that did not fail while the batch runs.
        let phase = found.snapshot.phase(isOwned: false)
        guard let own = found.snapshot.record.item, !hasStage || found.snapshot.ended != nil,
            let batch = try await journal.jobs(JobQuery(prefix: own.batch.text)).first
        else { return nil }
        let goesAlone = Self.isStopped(batch) || batch.owner != nil && phase == .succeeded
        return goesAlone ? nil : Target(batch: batch, items: [own.key])
    }

    /// True for a batch that nobody runs, with items left that would begin or go on with it: a word about one item is none
    /// about them.
    private static func isStopped(_ batch: OwnedJob) -> Bool {
        guard batch.owner == nil, let counts = batch.snapshot.batch else { return false }
        return counts.pendingCount + counts.count(.suspended) > 0
    }
}

extension [BatchRetry.Target] {
    /// Adds what to begin again of a batch: one that is there already is taken up once, for the items of both. All that
    /// failed are named by the batch itself.
    mutating func add(_ target: BatchRetry.Target) {
        let id = target.batch.snapshot.record.id
        guard let index = firstIndex(where: { $0.batch.snapshot.record.id == id }) else {
            append(target)
            return
        }
        if let known = self[index].items, let more = target.items {
            self[index].items = known + more
        } else {
            self[index].items = nil
        }
    }
}
