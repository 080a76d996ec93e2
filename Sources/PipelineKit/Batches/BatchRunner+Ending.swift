import PipelineCore

/// How a batch comes to its end, or is let go.
extension BatchRunner {
    /// Says in the journal how the work ended, and lets the batch go.
    func release(_ work: State) async throws(JournalFailure) -> End {
        guard work.stop != .lost, let batch = try await journal.batch(lease.job) else { return .lost }
        switch work.stop {
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
            return work.isCut && work.itemCause == nil ? .cut : end
        }
    }

    /// - Parameter request: a person's request that stays in the row of the batch until it begins again.
    private func end(_ phase: JobPhase, keeping request: JobRequest? = nil) async throws(JournalFailure) -> End {
        let kind: JobEvent.Kind =
            phase == .succeeded ? .jobSucceeded : phase == .cancelled ? .jobCancelled : .jobFailed
        try await journal.commit(
            [.ended(ports.clock.now), .requested(request), try await event(kind)], under: lease)
        return .ended(phase)
    }

    private func suspend(_ cause: SuspensionCause) async throws(JournalFailure) -> End {
        guard let job = try await journal.snapshot(of: lease.job) else { throw .stale }
        try await journal.commit(job.letGo(cause, at: JobMoment(ports.clock.reading)), under: lease)
        return .suspended(cause)
    }

    private func event(_ kind: JobEvent.Kind) async throws(JournalFailure) -> JournalChange {
        let sequence = try await journal.snapshot(of: lease.job)?.sequence ?? 0
        return .event(
            JobEvent(
                sequence: sequence + 1, time: ports.clock.now, kind: kind, job: lease.job,
                pipeline: job.record.pipeline))
    }
}
