package import PipelineCore

/// The document of a batch, given to jobs of its items that begin again: what they have done stays.
package struct AdoptedDocument: Sendable {
    private let batch: JobRecord
    private let plan: Plan
    private let variables: [String: String]

    /// - Parameter variables: the environment, for what is new in the document.
    package init(of batch: JobRecord, _ plan: Plan, variables: [String: String]) {
        (self.batch, self.plan, self.variables) = (batch, plan, variables)
    }

    /// Gives it to the jobs of items in states, where what is done of them fits it; others keep the one that they have.
    ///
    /// - Parameters:
    ///   - keys: the items that begin again; nil for all.
    ///   - scope: what begins again of each.
    package func give(
        toItemsIn states: Set<ItemRecord.State>, named keys: [String]? = nil, scope: RestartScope = .failed,
        in journal: any WorkspaceJournal
    ) async throws(JournalFailure) {
        guard let keys else {
            return try await journal.forEachJob(of: batch.id, in: states) { (id) throws(JournalFailure) in
                try await give(to: id, scope, in: journal)
            }
        }
        for key in keys {
            guard let item = try await journal.item(key, of: batch.id), states.contains(item.state), let id = item.job
            else { continue }
            try await give(to: id, scope, in: journal)
        }
    }

    private func give(
        to id: JobID, _ scope: RestartScope, in journal: any WorkspaceJournal
    ) async throws(JournalFailure) {
        // Most have it already: a brief look tells.
        let brief = try await journal.jobs(JobQuery(prefix: id.text, isBrief: true)).first
        guard brief?.snapshot.record.digest != batch.digest, let job = try await journal.snapshot(of: id),
            let document = try? MendedDocument(plan, for: job, scope, variables: variables)
        else { return }
        do throws(JournalFailure) {
            try await journal.adoptAlone(document)
        } catch {
            // A person has it begin again already.
            guard case .owned = error else { throw error }
        }
    }
}

extension WorkspaceJournal {
    /// Makes another document that of a job which nobody owns.
    package func adoptAlone(_ document: MendedDocument) async throws(JournalFailure) {
        let lease = try await acquire(document.record.id, for: owner)
        do throws(JournalFailure) {
            // First: should only this be done, the remote jobs are given up once more, and nothing is submitted.
            let submits = document.askedAgain.sorted { $0.key < $1.key }
            if !submits.isEmpty { try await commit(submits.map { .submit($0.key, $0.value) }, under: lease) }
            try await adopt(document.record, under: lease)
        } catch {
            try? await release(lease)
            throw error
        }
        try await release(lease)
    }
}
