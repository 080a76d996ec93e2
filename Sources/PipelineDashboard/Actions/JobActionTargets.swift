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

extension JobAction {
    /// Returns whether it is for a job as it stands. A list of many begins nothing again that was cancelled: who wants that
    /// names the job to `pipeline`.
    func applies(to job: OwnedJob) -> Bool {
        let phase = job.phase
        switch self {
        case .retry:
            if let batch = job.snapshot.batch { return batch.count(.failed) > 0 && phase != .cancelled }
            return phase == .failed || phase == .succeeded && job.snapshot.hasFailures
        case .resume, .pause, .cancel: return !phase.isEnded
        }
    }

    /// Says why it is for none of the jobs.
    func refusal(of jobs: [OwnedJob]) -> StepFailure {
        guard let only = jobs.first, jobs.count == 1 else {
            let number = jobs.count
            return StepFailure(
                self == .retry ? "none of the \(number) jobs has failed" : "the \(number) jobs have ended already")
        }
        let id = only.snapshot.record.id
        switch (self, only.phase) {
        case (.retry, .cancelled):
            return StepFailure("job \(id) was cancelled", hint: "'pipeline retry \(id)' begins it again all the same")
        case (.retry, .succeeded): return StepFailure("nothing of job \(id) has failed")
        case (.retry, _): return StepFailure("job \(id) has not ended")
        case (.resume, _), (.pause, _), (.cancel, _): return StepFailure("job \(id) has ended already")
        }
    }
}
