package import PipelineCore

extension BatchRecord {
    /// True if rows that were never read would have come from standard input, which only the same command has.
    package var lacksStandardInput: Bool {
        !isRead && sources.dropFirst(place?.source ?? 0).contains { ItemSource.isStandardInput($0) }
    }
}

/// What people are told of a batch, wherever they look at it.
extension OwnedJob {
    /// Items a second since the batch began; nil of a job that is none, while nobody has it, and before any item has ended.
    package func itemRate(at now: Timestamp) -> Double? {
        let seconds = (now - snapshot.record.started).seconds
        guard let batch = snapshot.batch, owner != nil, batch.endedCount > 0, seconds > 0 else { return nil }
        return Double(batch.endedCount) / seconds
    }

    /// The command that gets a batch on, as a person types it; nil when it gets on by itself, or is done.
    package var batchAdvice: String? {
        let key = snapshot.record.key
        switch snapshot.suspension(isOwned: owner != nil) {
        case .tooManyFailures, .sameFailure:
            return "mend what failed, then pipeline retry \(key), or pipeline resume \(key) for those not yet begun"
        case .spent: return "pipeline resume \(key) --spend MORE"
        case .interrupted where snapshot.batch?.lacksStandardInput == true:
            return "run the same command again: it adds the rest of its standard input"
        case .secret, .interrupted, .paused, .noNetwork, .crashed, .extension: return "pipeline resume \(key)"
        case nil:
            return snapshot.phase(isOwned: owner != nil) == .failed ? "once mended, pipeline retry \(key)" : nil
        }
    }
}
