package import JSONPath

/// The state of an item of a batch, by what its job has come to. It is kept in the commit that makes it so, with the counts of
/// the batch: wherever the job runs, nobody has to tell the batch.
public struct ItemOutcome: Sendable, Hashable {
    package let state: ItemRecord.State
    /// When the job ended; nil while it has not, as all that follows.
    package var ended: Timestamp?
    /// From the beginning of the job to its end.
    package var seconds: Double?
    /// The reason why it failed, or is unknown.
    package var failure: ItemFailure?
    package var cost: Double?
    package var moved = BytesMoved()
    /// The values of the document's `batch.results`, without those of secret captures.
    package var results: JSONObject = [:]
    /// The absolute paths that the job has written.
    package var files: [String] = []

    /// An item with nothing but its state, as one whose job has not ended.
    package init(_ state: ItemRecord.State) { self.state = state }
}

extension ItemRecord {
    /// Takes over what its job has come to.
    package mutating func apply(_ outcome: ItemOutcome) {
        // Its job was begun again by itself; of what a batch begins again the row says so before.
        if state.isEnded, outcome.state == .running { attempt += 1 }
        state = outcome.state
        if outcome.state == .running { failure = nil }
        if outcome.state == .unknown { failure = outcome.failure }
        if [.unknown, .suspended].contains(outcome.state), let spent = outcome.cost {
            (cost, moved) = (spent, outcome.moved)
        }
        guard outcome.ended != nil else { return }
        (ended, seconds, failure) = (outcome.ended, outcome.seconds, outcome.failure)
        (cost, moved, results, files) = (outcome.cost, outcome.moved, outcome.results, outcome.files)
    }
}

extension ItemRecord {
    /// Returns what it adds, as it is now, to ``BatchRecord/otherEnds``.
    package func otherEnds(since before: ItemRecord) -> Int {
        let isPaid = (cost ?? 0) > 0
        let costsMore = (cost ?? 0) > (before.cost ?? 0)
        switch state {
        case .failed, .cancelled, .unknown, .suspended: return costsMore ? 1 : 0
        // It was paid for at an earlier end, which counts already.
        case .succeeded: return before.state != .succeeded && isPaid && !costsMore ? -1 : 0
        case .pending, .running, .waiting: return before.state.leavesPaidEnd(before.cost) ? 1 : 0
        case .duplicate: return 0
        }
    }

    /// Returns whether it has come to rest since: it ended, or can't go on before a person has looked at its service.
    package func cameToRest(since before: ItemRecord) -> Bool {
        !before.state.isEnded && before.state != state && (state.isEnded || state == .unknown)
    }
}

extension ItemRecord.State {
    /// Returns whether an item that begins again from here takes an end that was paid for out of those that have succeeded.
    package func leavesPaidEnd(_ cost: Double?) -> Bool { self == .succeeded && (cost ?? 0) > 0 }
}
