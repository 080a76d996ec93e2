import PipelineCore

/// How a batch comes to its end, or is let go.
extension BatchRunner {
    /// Says in the journal how the work ended, and lets the batch go.
    func release(_ work: BatchRunState) async throws(JournalFailure) -> End {
        guard work.stop != .lost, let batch = try await journal.batch(lease.job) else { return .lost }
        switch work.stop {
        // Of one whose items had all come to a good end by then nothing was cancelled.
        case .cancel? where batch.outcome == .succeeded: return try await end(.succeeded)
        case .cancel?: return try await end(.cancelled, keeping: .cancel)
        case .leave?:
            try await journal.commit([.released(nil)], under: lease)
            return .left
        case .interrupt?: return try await suspend(.interrupted)
        case .suspend(let cause)?: return try await suspend(cause)
        case .unreadable(let error)?:
            _ = try await suspend(.interrupted)
            return .unreadable(error)
        case .refuse(let count)?:
            // Of a batch that is read again there may be nothing left to go on with.
            if let phase = batch.outcome, phase != .unknown {
                _ = try await end(phase)
            } else {
                _ = try await suspend(.paused)
            }
            return .refused(count)
        case .lost?: return .lost
        case nil: break
        }
        if options.onlyReads, batch.outcome == nil {
            try await journal.commit([.taken(.background), .released(nil)], under: lease)
            return .read
        }
        switch batch.outcome {
        case .unknown?:
            try await journal.commit([.released(nil)], under: lease)
            return .unknown
        case let phase?: return try await end(phase)
        case nil:
            if let failure = work.failure, work.itemCause == nil {
                // Nothing is the matter with the batch: it needs nobody to go on.
                try await journal.commit([.released(nil)], under: lease)
                throw failure
            }
            let end = try await suspend(work.itemCause ?? .interrupted)
            if let failure = work.failure { throw failure }
            return work.reading.isCut && work.itemCause == nil ? .cut : end
        }
    }

    /// - Parameter request: a person's request that stays in the row of the batch until it begins again.
    private func end(_ phase: JobPhase, keeping request: JobRequest? = nil) async throws(JournalFailure) -> End {
        let kind: JobEvent.Kind =
            phase == .succeeded ? .jobSucceeded : phase == .cancelled ? .jobCancelled : .jobFailed
        let now = ports.clock.now
        let told = try await current().event(kind, at: now)
        try await journal.commit([.ended(now), .requested(request), told], under: lease)
        return .ended(phase)
    }

    private func suspend(_ cause: SuspensionCause) async throws(JournalFailure) -> End {
        let changes = try await current().letGo(cause, at: JobMoment(ports.clock.reading))
        try await journal.commit(changes, under: lease)
        return .suspended(cause)
    }

    private func current() async throws(JournalFailure) -> JobSnapshot {
        guard let job = try await journal.snapshot(of: lease.job) else { throw .stale }
        return job
    }
}

extension JobSnapshot {
    /// The next event of a batch.
    func event(_ kind: JobEvent.Kind, at time: Timestamp) -> JournalChange {
        .event(
            JobEvent(sequence: sequence + 1, time: time, kind: kind, job: record.id, pipeline: record.pipeline))
    }
}
