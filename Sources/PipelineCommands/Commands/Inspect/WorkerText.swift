import PipelineCore
import PipelineKit

/// The text that tells a person where a job runs, or will, on a journal that many machines share.
struct WorkerText {
    let line: String

    /// Nil where there is nothing to tell.
    init?(_ job: OwnedJob, _ journal: Workspace.Journal) async throws {
        guard let shared = journal.shared, job.snapshot.ended == nil else { return nil }
        if let owner = job.owner {
            line = "at worker \(owner.text)"
            return
        }
        guard job.snapshot.mode == .background, job.isToBeTaken || job.snapshot.goesOnByItself else { return nil }
        if let host = try await shared.host(of: job.snapshot.record.id) {
            line = "waits for a worker on \(host), which has its files"
        } else {
            line = "waits for a worker"
        }
    }
}
