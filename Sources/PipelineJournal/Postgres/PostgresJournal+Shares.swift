package import PipelineCore

/// What processes that share services share of their limits, by rows and by the database's clock.
extension PostgresJournal {
    /// How long a part of a rate is a process's without being claimed again.
    private static var shareLength: Duration { .seconds(6) }
    /// How long a list request may take before another process asks for the same.
    private static var askingLength: Duration { .seconds(20) }

    package func claimRate(of service: ServiceID) async throws(JournalFailure) -> RateShare? {
        let (worker, length) = (owner.text, Self.shareLength)
        let part = try await writer.write { (rows) throws(JournalFailure) in
            try ServiceShares(connection: rows.connection).claimRate(
                of: service.text, worker, milliseconds: Int64(length / .milliseconds(1)))
        }
        return RateShare(part: part, lasting: length * 0.9)
    }

    package func beginList(
        _ list: String, ids: [String], atMost: Int
    ) async throws(JournalFailure) -> ListTurn? {
        let (worker, length) = (owner.text, Int64(Self.askingLength / .milliseconds(1)))
        return try await writer.write { (rows) throws(JournalFailure) in
            try ServiceShares(connection: rows.connection).beginList(
                list, ids, atMost: atMost, worker, milliseconds: length)
        }
    }

    package func endList(
        _ list: String, asked: [String], entries: [String: ListEntry]
    ) async throws(JournalFailure) {
        let worker = owner.text
        try await writer.write { (rows) throws(JournalFailure) in
            for id in asked { try ServiceShares(connection: rows.connection).endList(list, id, entries[id], worker) }
        }
    }

    package func planList(
        _ list: String, id: String, _ plan: ListPlan
    ) async throws(JournalFailure) -> Duration? {
        let worker = owner.text
        return try await writer.write { (rows) throws(JournalFailure) in
            try ServiceShares(connection: rows.connection).planList(list, id, plan, worker)
        }
    }
}
