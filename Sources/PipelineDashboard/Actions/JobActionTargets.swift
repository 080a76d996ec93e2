package import PipelineCore
import PipelineKit

/// The jobs that something is done to, as far as it is done to them in different ways.
package struct JobActionTargets: Sendable, Hashable {
    /// Jobs whose command returns soon.
    package var jobs: [JobID] = []
    /// Batches, and items of batches, that are begun again: the background owner takes none, so each gets a process.
    package var batches: [JobID] = []

    /// At most so many jobs at a time.
    static let limit = 1000

    init(_ chosen: [OwnedJob], _ action: JobAction) {
        for job in chosen {
            let record = job.snapshot.record
            switch action {
            case .pause, .cancel: jobs.append(record.id)
            // Begun again by itself, an item's job would be unknown to its batch.
            case .retry where record.item != nil: batches.append(record.id)
            case .retry, .resume:
                if job.snapshot.batch == nil { jobs.append(record.id) } else { batches.append(record.id) }
            }
        }
    }
}
