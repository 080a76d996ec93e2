package import PipelineCore
import PipelineKit

/// The jobs that something is done to, as far as it is done to them in different ways.
package struct JobActionTargets: Sendable, Hashable {
    /// A batch that is begun again, and what of it: itself, or items by their jobs.
    package struct Batch: Sendable, Hashable {
        package let id: JobID
        package fileprivate(set) var names: [JobID]
    }

    /// Jobs of their own, and all that is paused or cancelled.
    package var jobs: [JobID] = []
    /// Batches that are begun again, each by one command: it is one word about all of its items that are named.
    package var batches: [Batch] = []

    /// At most so many jobs at a time.
    static let limit = 1000

    init(_ chosen: [OwnedJob], _ action: JobAction) {
        for job in chosen {
            let record = job.snapshot.record
            switch action {
            case .pause, .cancel: jobs.append(record.id)
            case .retry, .resume:
                // Begun again by itself, an item's job would be unknown to its batch.
                if action == .retry, let item = record.item {
                    add(record.id, of: item.batch)
                } else if job.snapshot.batch != nil {
                    add(record.id, of: record.id)
                } else {
                    jobs.append(record.id)
                }
            }
        }
    }

    private mutating func add(_ name: JobID, of batch: JobID) {
        if let index = batches.firstIndex(where: { $0.id == batch }) {
            batches[index].names.append(name)
        } else {
            batches.append(Batch(id: batch, names: [name]))
        }
    }
}
