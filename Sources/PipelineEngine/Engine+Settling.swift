public import JSONPath
public import PipelineCore

/// What a person knows of a submit whose answer was lost.
public enum Resolution: Sendable {
    /// It is there; the captures are what its answer would have given.
    case found(JSONObject)
    /// It is not there: send it again, as a new one.
    case resubmit
    /// The step is given up.
    case abandon
}

extension Engine {
    /// Settles an unknown submit in the ledger; the job goes on with the next resume. Throws `.conflict` when the step
    /// is not unknown by now.
    public func resolve(_ job: JobID, _ key: StepKey, as resolution: Resolution) async throws(JournalFailure) {
        let lease = try await ports.journal.acquire(job, for: ports.owner)
        do throws(JournalFailure) {
            guard let snapshot = try await ports.journal.snapshot(of: job) else { throw .noSuchJob(job) }
            let changes = try changes(of: snapshot, key, resolution)
            try await ports.journal.commit(changes + [.released(cause(after: snapshot))], under: lease)
        } catch {
            try await ports.journal.release(lease)
            throw error
        }
    }

    /// A job that stopped at an unknown submit has no cause yet. In the background its owner takes it up again; else
    /// a person does.
    private func cause(after job: JobSnapshot) -> SuspensionCause? {
        job.cause ?? (job.mode == .background ? nil : .interrupted)
    }

    private func changes(
        of job: JobSnapshot, _ key: StepKey, _ resolution: Resolution
    ) throws(JournalFailure) -> [JournalChange] {
        guard var step = job.steps[key], var submit = job.submits[key] else { throw .conflict(key) }
        let event: StepEvent
        switch resolution {
        case .found(let captures):
            submit.phase = .submitted
            for member in captures { step.captures[member.name] = member.value }
            event = .resolved
        case .resubmit:
            submit = submit.nextGeneration(jobKey: job.record.key, step: key)
            event = .resolved
        case .abandon:
            // It may be there all the same: a later try must settle it, not send it blindly.
            event = .abandoned(.givenUp)
        }
        let now = ports.clock.now
        guard let (state, effects) = try? step.state.apply(event, at: now) else { throw .conflict(key) }
        step.state = state
        if state.isEnded { step.ended = now }
        step.version += 1
        var changes: [JournalChange] = [.step(key, step), .submit(key, submit)]
        for case .publish(let kind, let data) in effects {
            let event = JobEvent(
                sequence: job.sequence + 1, time: now, kind: kind, job: job.record.id, pipeline: job.record.pipeline,
                step: key, attempt: step.attempts, data: data)
            changes.append(.event(event))
        }
        return changes
    }

    /// Marks a job that nobody owns as paused, so that no background owner takes it up.
    public func pause(_ job: JobID) async throws(JournalFailure) {
        let lease = try await ports.journal.acquire(job, for: ports.owner)
        try await ports.journal.commit([.released(.paused), .requested(nil)], under: lease)
    }
}

extension StepFailure {
    /// What becomes of a step whose unknown submit a person gave up.
    static let givenUp = StepFailure("the submit was given up by 'pipeline resolve --abandon'")
}

extension JobSnapshot {
    /// Whether it has failed because a person gave a submit up: only a person's `retry` begins that again.
    public var wasGivenUp: Bool { ended != nil && failure?.failure == .givenUp }
}
