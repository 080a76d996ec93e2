package import PipelineCore

/// A journal that passes on what it does not do itself.
package protocol ForwardingJournal: Journal {
    /// The journal to which everything goes.
    var base: any Journal { get }
}

extension ForwardingJournal {
    package func create(
        _ job: JobSnapshot, events: [JobEvent], owner: OwnerID
    ) async throws(JournalFailure) -> Lease {
        try await base.create(job, events: events, owner: owner)
    }

    package func snapshot(of job: JobID) async throws(JournalFailure) -> JobSnapshot? {
        try await base.snapshot(of: job)
    }

    package func jobs(_ query: JobQuery) async throws(JournalFailure) -> [OwnedJob] { try await base.jobs(query) }

    package func acquire(_ job: JobID, for owner: OwnerID) async throws(JournalFailure) -> Lease {
        try await base.acquire(job, for: owner)
    }

    package func holds(_ lease: Lease) -> Bool { base.holds(lease) }

    package func release(_ lease: Lease) async throws(JournalFailure) { try await base.release(lease) }

    package func commit(_ changes: [JournalChange], under lease: Lease) async throws(JournalFailure) {
        try await base.commit(changes, under: lease)
    }

    package func events(of job: JobID, after sequence: Int) async throws(JournalFailure) -> [JobEvent] {
        try await base.events(of: job, after: sequence)
    }

    package func post(_ request: JobRequest, to job: JobID) async throws(JournalFailure) -> Bool {
        try await base.post(request, to: job)
    }

    package func post(_ push: Callback, to step: StepKey, of job: JobID) async throws(JournalFailure) -> CallbackReceipt
    {
        try await base.post(push, to: step, of: job)
    }

    package func requests(for owner: OwnerID) -> AsyncStream<JobID> { base.requests(for: owner) }

    package func remove(_ job: JobID) async throws(JournalFailure) -> [JobID] { try await base.remove(job) }
}
