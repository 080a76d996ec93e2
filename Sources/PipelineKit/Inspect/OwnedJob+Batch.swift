package import PipelineCore

extension BatchRecord {
    /// True if rows that were never read would have come from standard input, which only the same command has.
    package var lacksStandardInput: Bool {
        !isRead && sources.dropFirst(place?.source ?? 0).contains { ItemSource.isStandardInput($0) }
    }

    /// That nothing bounds what is spent.
    package static let unpriced = "no item has said what it cost, so that --spend bounds nothing"

    /// Why the batch stands, in words.
    package func explanation(of cause: SuspensionCause) -> String {
        switch cause {
        case .spent where isCostUnknown: Self.unpriced
        case .sameFailure where stopsAtUnknown: "the last submits are all unknown alike"
        case .secret, .interrupted, .paused, .noNetwork, .crashed, .extension, .tooManyFailures, .sameFailure, .spent:
            cause.explanation
        }
    }

    /// What gets on what failed of a batch that stopped for it.
    package func remedy(of failures: [FailureGroup], _ cause: SuspensionCause, _ key: String) -> String {
        if cause == .sameFailure, stopsAtUnknown {
            return
                "'pipeline resolve \(key)' with --resubmit or --abandon ends what is unknown of the submits; if \"capture\" or "
                + "the look-up is wrong, mend it and run the same command again with --changed"
        }
        return failures.areRows
            ? "once the rows are mended, run the same command again"
            : "'pipeline retry \(key)' begins again what failed; if the document is wrong, mend it and run the same command "
                + "again with --changed --retry-failed"
    }

    /// True if it is submits that are unknown for which it stands, and none that failed.
    package var stopsAtUnknown: Bool { count(.unknown) > 0 && count(.failed) == 0 }

    /// How a batch goes on that stands for a reason, as a line for people ends.
    package func invitation(after cause: SuspensionCause, _ key: String) -> String {
        let next = continuation(after: cause, key)
        return next.hasPrefix("pipeline ") ? "go on with: \(next)" : next
    }

    /// The command by which a batch goes on that stands for a reason, as a person types it, or what else to do.
    package func continuation(after cause: SuspensionCause, _ key: String) -> String {
        switch cause {
        case .spent where isCostUnknown:
            "mend \"cost\" in the document and run the same command again with --changed, or without --spend"
        case .spent: "pipeline resume \(key) --spend MORE"
        case .interrupted where lacksStandardInput, .crashed where lacksStandardInput:
            "run the same command again: it adds the rest of its standard input, and what is done stays done"
        case .secret, .interrupted, .paused, .noNetwork, .crashed, .extension, .tooManyFailures, .sameFailure:
            "pipeline resume \(key)"
        }
    }
}

/// The reason why a job or a batch stands, wherever people look at it.
extension OwnedJob {
    /// The words for a job that waits to be taken up.
    package static let queued = "nobody has it yet"

    /// The reason why it is suspended, in words; nil of one that is not.
    package var suspensionText: String? {
        suspension.map { cause in
            snapshot.isQueued ? Self.queued : snapshot.batch?.explanation(of: cause) ?? cause.explanation
        }
    }

    /// The reason why it is suspended, in a word for lists; nil of one that is not.
    package var suspensionWord: String? { suspension.map { snapshot.isQueued ? Self.queued : $0.rawValue } }
}

/// The facts that people are told of a batch, wherever they look at it.
extension OwnedJob {
    /// Items a second since the batch began; nil of a job that is none, while nobody has it, and before any item has ended.
    package func itemRate(at now: Timestamp) -> Double? {
        let seconds = (now - snapshot.record.started).seconds
        guard let batch = snapshot.batch, owner != nil, batch.endedCount > 0, seconds > 0 else { return nil }
        return Double(batch.endedCount) / seconds
    }

    /// The command that gets a batch on, after what failed of it: rows that are mended are read by the same command again.
    package func batchAdvice(after failures: [FailureGroup]) -> String? {
        let waitsForMends = suspension == .tooManyFailures || phase == .failed
        return waitsForMends && failures.areRows ? "once the rows are mended, run the same command again" : batchAdvice
    }

    /// The command that gets a batch on, as a person types it; nil when it gets on by itself, or is done.
    package var batchAdvice: String? {
        let key = snapshot.record.key
        if owner == nil, snapshot.isQueued, snapshot.batch?.lacksStandardInput == false { return nil }
        switch suspension {
        case .sameFailure where snapshot.batch?.stopsAtUnknown == true:
            return
                "see at the service, then pipeline resolve \(key) --resubmit or --abandon; pipeline resume \(key) begins "
                + "the others"
        case .tooManyFailures, .sameFailure:
            return "mend what failed, then pipeline retry \(key), or pipeline resume \(key) for those not yet begun"
        case let cause?: return snapshot.batch?.continuation(after: cause, key)
        case nil:
            switch phase {
            case .failed: return "once mended, pipeline retry \(key)"
            case .unknown:
                return "see at the service, then pipeline resolve \(key) --resubmit or --abandon, or each item that "
                    + "'pipeline why \(key)' names"
            case .running, .waiting, .suspended, .succeeded, .cancelled: return nil
            }
        }
    }
}
