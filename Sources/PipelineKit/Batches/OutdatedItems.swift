import PipelineCore

/// Rows that say other inputs by now than the items under way that they are of: once these have ended they are made anew.
struct OutdatedItems: Sendable {
    private var rows: [NewItem] = []

    /// Has the items of rows be cancelled when they go on, or where they run. One that has a submit of which nobody knows
    /// whether it arrived is left: it goes on until it has ended.
    mutating func withdraw(
        _ found: [NewItem], of batch: JobID, in journal: any Journal & BatchJournal
    ) async throws(JournalFailure) {
        rows += found
        for row in found {
            guard let job = try await journal.item(row.key, of: batch)?.job,
                let snapshot = try await journal.snapshot(of: job), !snapshot.hasOpenSubmit
            else { continue }
            _ = try await journal.post(.cancel, to: job)
        }
    }

    /// The rows whose items have ended by now, each once.
    mutating func takeEnded(
        of batch: JobID, in journal: any Journal & BatchJournal
    ) async throws(JournalFailure) -> [NewItem] {
        var (ended, left): ([NewItem], [NewItem]) = ([], [])
        for row in rows {
            let hasEnded = try await journal.item(row.key, of: batch)?.state.isEnded == true
            if hasEnded { ended.append(row) } else { left.append(row) }
        }
        rows = left
        return ended
    }
}

extension JobSnapshot {
    /// True if nobody knows of a submit whether the service took it.
    fileprivate var hasOpenSubmit: Bool {
        steps.contains { key, step in step.state.name == .unknown || openSubmit(of: key) != nil }
    }
}
