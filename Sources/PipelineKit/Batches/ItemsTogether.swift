package import PipelineCore
import Synchronization

extension BatchJournal {
    /// Does something for the jobs of items in states, some at a time so that what is written for them is written together.
    package func forEachJob(
        of batch: JobID, in states: Set<ItemRecord.State>,
        _ body: @escaping @Sendable (JobID) async throws(JournalFailure) -> Void
    ) async throws(JournalFailure) {
        var last = 0
        while true {
            let items = try await self.items(of: batch, in: states, after: last, limit: 64)
            guard let end = items.last else { return }
            last = end.number
            try await items.together { (item) throws(JournalFailure) in
                if let job = item.job { try await body(job) }
            }
        }
    }
}

extension Array where Element: Sendable {
    /// Does something for all elements side by side; the first failure is thrown once all are done.
    func together(
        _ body: @escaping @Sendable (Element) async throws(JournalFailure) -> Void
    ) async throws(JournalFailure) {
        let failure = await withTaskGroup(of: JournalFailure?.self) { group in
            for element in self {
                group.addTask {
                    do throws(JournalFailure) {
                        try await body(element)
                        return nil
                    } catch {
                        return error
                    }
                }
            }
            return await group.reduce(into: JournalFailure?.none) { $0 = $0 ?? $1 }
        }
        if let failure { throw failure }
    }
}

/// Jobs that are found side by side.
final class FoundJobs: Sendable {
    private let jobs = Mutex<Set<JobID>>([])
    func insert(_ job: JobID) { jobs.withLock { _ = $0.insert(job) } }
    var all: Set<JobID> { jobs.withLock { $0 } }
}
