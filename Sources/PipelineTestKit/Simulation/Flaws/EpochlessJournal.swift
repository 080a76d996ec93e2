import PipelineSimulation
package import PipelineCore
import Synchronization

/// Wrong on purpose: takes the writes of every owner that ever had a job.
package final class EpochlessJournal: ForwardingJournal {
    package let base: any Journal
    private let leases = Mutex<[JobID: Lease]>([:])

    package init(_ base: any Journal) { self.base = base }

    package func acquire(_ job: JobID, for owner: OwnerID) async throws(JournalFailure) -> Lease {
        let lease = try await base.acquire(job, for: owner)
        leases.withLock { $0[job] = lease }
        return lease
    }

    package func commit(_ changes: [JournalChange], under lease: Lease) async throws(JournalFailure) {
        let newest = leases.withLock { $0[lease.job] } ?? lease
        guard newest != lease else { return try await base.commit(changes, under: lease) }
        let events = changes.compactMap { if case .event(let event) = $0 { event.sequence } else { nil } }
        let known = try await base.snapshot(of: lease.job)
        // Rows and events are made to fit, as a journal would that compares nothing.
        let fitting = changes.compactMap { change -> JournalChange? in
            guard case .step(let key, var step) = change else { return events.isEmpty ? change : nil }
            step.version = (known?.steps[key]?.version ?? 0) + 1
            return .step(key, step)
        }
        try await base.commit(fitting, under: newest)
    }
}
