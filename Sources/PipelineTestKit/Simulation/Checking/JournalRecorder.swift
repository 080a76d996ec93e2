import PipelineSimulation
import JSONPath
package import PipelineCore
import Synchronization

/// A journal that passes everything on, remembers what became durable, and notes what breaks an invariant.
///
/// It stands directly above the real journal: what it knows is what a next owner would find. The model server asks it
/// at the moment a submit is sent.
package final class JournalRecorder: ForwardingJournal {
    private struct State {
        var jobs: [JobID: JobSnapshot] = [:]
        var owners: [JobID: Lease] = [:]
        var events: [JobEvent] = []
        var eventCounts: [OwnerID: Int] = [:]
        var violations: [String] = []
        /// All that was ever written, to be searched for secrets.
        var written: [UInt8] = []
        var commits = 0
    }

    package let base: any Journal
    private let state = Mutex(State())

    package init(_ base: any Journal) { self.base = base }

    /// Returns whether one of the texts was ever written.
    package func hasWritten(_ texts: [String]) -> Bool {
        let written = state.withLock { $0.written }
        return texts.contains { ByteSearch.contains(written, Array($0.utf8)) }
    }

    package var violations: [String] { state.withLock { $0.violations } }
    /// Every journaled event, in the order of their commits.
    package var events: [JobEvent] { state.withLock { $0.events } }
    /// Returns how many events of the owner's became durable.
    package func eventCount(of owner: OwnerID) -> Int { state.withLock { $0.eventCounts[owner] ?? 0 } }
    package var commits: Int { state.withLock { $0.commits } }

    /// The job as the next owner would find it.
    package func job(_ id: JobID) -> JobSnapshot? { state.withLock { $0.jobs[id] } }

    /// Returns what is wrong with an owner's sending a submit of the key now; nil when its `sending` is durable.
    ///
    /// An owner that was stopped and has lost the job meanwhile can't know it: what it sends is what it had journaled.
    package func violation(ofSubmit key: String, from owner: OwnerID) -> String? {
        state.withLock { state in
            for (id, job) in state.jobs {
                guard let record = job.submits.values.first(where: { $0.key == key }) else { continue }
                let isStale = state.owners[id]?.owner != owner
                if record.phase == .sending || isStale && record.sends > 0 { return nil }
                return "a submit was sent while the journal holds '\(record.phase.rawValue)' for its key"
            }
            return "a submit was sent, and the journal does not know its key"
        }
    }

    package func create(
        _ job: JobSnapshot, events: [JobEvent], owner: OwnerID
    ) async throws(JournalFailure) -> Lease {
        let lease = try await base.create(job, events: events, owner: owner)
        state.withLock { state in
            state.jobs[lease.job] = job
            state.owners[lease.job] = lease
            for event in events { keep(.event(event), of: lease, in: &state) }
        }
        return lease
    }

    package func commit(_ changes: [JournalChange], under lease: Lease) async throws(JournalFailure) {
        try await base.commit(changes, under: lease)
        state.withLock { state in
            state.commits += 1
            if let owner = state.owners[lease.job], owner.epoch > lease.epoch {
                state.violations.append(
                    "a write of \(lease.owner.text) was taken after \(owner.owner.text) had the job")
            }
            for change in changes { keep(change, of: lease, in: &state) }
        }
    }

    private func keep(_ change: JournalChange, of lease: Lease, in state: inout State) {
        guard var job = state.jobs[lease.job] else { return }
        state.violations += JournalLaw.violations(of: change, on: job)
        if case .event(let event) = change {
            state.events.append(event)
            state.eventCounts[lease.owner, default: 0] += 1
        }
        JournalText.write(change, after: job, into: &state.written)
        job.apply(change)
        state.jobs[lease.job] = job
    }

    package func acquire(_ job: JobID, for owner: OwnerID) async throws(JournalFailure) -> Lease {
        let lease = try await base.acquire(job, for: owner)
        state.withLock { state in
            if let last = state.owners[job], last.epoch >= lease.epoch {
                state.violations.append("the epoch of \(owner.text) is not above the last owner's")
            }
            state.owners[job] = lease
        }
        return lease
    }
}
