import PipelineSimulation
package import PipelineCore

/// Wrong on purpose: tells of events as soon as they are on disk, before anything was done.
package struct LoudJournal: ForwardingJournal {
    package let base: any Journal
    private let observe: @Sendable (JobEvent) -> Void

    package init(_ base: any Journal, observe: @escaping @Sendable (JobEvent) -> Void) {
        self.base = base
        self.observe = observe
    }

    package func commit(_ changes: [JournalChange], under lease: Lease) async throws(JournalFailure) {
        try await base.commit(changes, under: lease)
        for case .event(let event) in changes { observe(event) }
    }
}
