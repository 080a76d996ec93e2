package import PipelineCore

/// A journal as one process sees it: calls take time, and the process may die before, between and after.
///
/// Dying before the inner call loses what was to be kept, dying after it loses only the acknowledgement.
package struct ProcessJournal: ForwardingJournal {
    package let base: any Journal
    private let process: SimulatedProcess
    /// The number of times that the disk takes its time.
    private let slowness: Double

    package init(_ base: any Journal, of process: SimulatedProcess, slowness: Double = 0.25) {
        self.base = base
        self.process = process
        self.slowness = slowness
    }

    package func create(
        _ job: JobSnapshot, events: [JobEvent], owner: OwnerID
    ) async throws(JournalFailure) -> Lease {
        try await reached()
        let lease = try await base.create(job, events: events, owner: owner)
        try await reached()
        return lease
    }

    package func snapshot(of job: JobID) async throws(JournalFailure) -> JobSnapshot? {
        try await reached()
        let snapshot = try await base.snapshot(of: job)
        try alive()
        return snapshot
    }

    package func jobs(_ query: JobQuery) async throws(JournalFailure) -> [OwnedJob] {
        try await reached()
        return try await base.jobs(query)
    }

    package func acquire(_ job: JobID, for owner: OwnerID) async throws(JournalFailure) -> Lease {
        try await reached()
        let lease = try await base.acquire(job, for: owner)
        try await reached()
        return lease
    }

    package func release(_ lease: Lease) async throws(JournalFailure) {
        try await reached()
        try await base.release(lease)
        try await reached()
    }

    package func commit(_ changes: [JournalChange], under lease: Lease) async throws(JournalFailure) {
        try await reached()
        try await base.commit(changes, under: lease)
        try await reached()
    }

    package func events(of job: JobID, after sequence: Int) async throws(JournalFailure) -> [JobEvent] {
        try await reached()
        return try await base.events(of: job, after: sequence)
    }

    package func post(_ request: JobRequest, to job: JobID) async throws(JournalFailure) -> Bool {
        try await reached()
        return try await base.post(request, to: job)
    }

    package func post(_ push: Callback, to step: StepKey, of job: JobID) async throws(JournalFailure) -> CallbackReceipt
    {
        try await reached()
        let receipt = try await base.post(push, to: step, of: job)
        try await reached()
        return receipt
    }

    package func remove(_ job: JobID) async throws(JournalFailure) -> [JobID] {
        try await reached()
        return try await base.remove(job)
    }

    /// A point of the way to the disk or back: the disk takes its time now and then.
    func reached() async throws(JournalFailure) {
        process.pass()
        try alive()
        let random = process.simulation.randomness
        guard random.chance(slowness) else { return }
        try? await process.clock.sleep(until: process.clock.now + random.milliseconds(0...4))
        try alive()
    }

    private func alive() throws(JournalFailure) {
        if process.isDead { throw .other("the process is gone") }
    }
}
