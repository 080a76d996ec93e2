import PipelineSimulation
package import PipelineCore

/// Wrong on purpose: says that a submit's `sending` is kept, and does not keep it.
///
/// An engine over it acts without having committed; the simulation must notice.
package struct ForgetfulJournal: ForwardingJournal {
    package let base: any Journal

    package init(_ base: any Journal) { self.base = base }

    package func commit(_ changes: [JournalChange], under lease: Lease) async throws(JournalFailure) {
        let kept = changes.filter { change in
            if case .submit(_, let record) = change { record.phase != .sending } else { true }
        }
        if !kept.isEmpty { try await base.commit(kept, under: lease) }
    }
}
