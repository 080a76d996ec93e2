package import PipelineCore

extension Workspace {
    /// Returns how long a job still takes, from earlier jobs of its pipeline and the author's guesses; nil for one that
    /// has ended, or of which nothing is known.
    package func estimate(of found: OwnedJob, _ plan: Plan?, in journal: Journal) async throws -> JobEstimate? {
        guard let plan, found.snapshot.ended == nil else { return nil }
        let (job, now) = (found.snapshot, SystemClock().now)
        let samples = try await samples(of: job.record.pipeline)
        // What nobody has is held back by nothing but that.
        let events =
            found.owner == nil ? [] : try await journal.events(of: job.record.id, after: max(0, job.sequence - 64))
        return JobEstimate(
            job, plan: plan, samples: samples, at: now,
            heldUntil: { events.deferral(of: $0, in: job, plan, at: now)?.until })
    }

    /// Returns what the rules of the background put off of a job that waits; nil for any other.
    package func deferral(of found: OwnedJob, _ plan: Plan?, in journal: Journal) async throws -> Deferral? {
        let job = found.snapshot
        guard found.owner != nil, found.phase == .waiting, let plan else { return nil }
        let events = try await journal.events(of: job.record.id, after: max(0, job.sequence - 64))
        let now = SystemClock().now
        let open = job.steps.filter { !$0.value.state.isEnded }.keys
        return open.compactMap { events.deferral(of: $0, in: job, plan, at: now) }.min { $0.until < $1.until }
    }
}
