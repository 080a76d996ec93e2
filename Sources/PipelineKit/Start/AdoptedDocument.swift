import JSONPath
package import PipelineCore
import PipelineEngine
import Synchronization

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
    ///   - keys: the items that go on, or begin again; nil for all.
    ///   - scope: what begins again of each.
    /// - Returns: the number of jobs that had another one.
    @discardableResult
    package func give(
        toItemsIn states: Set<ItemRecord.State>, named keys: [String]? = nil, scope: RestartScope = .failed,
        in journal: any WorkspaceJournal
    ) async throws(JournalFailure) -> Int {
        guard let keys else {
            let count = Mutex(0)
            try await journal.forEachJob(of: batch.id, in: states) { (id) throws(JournalFailure) in
                if try await give(to: id, scope, in: journal) { count.withLock { $0 += 1 } }
            }
            return count.withLock(\.self)
        }
        var count = 0
        for key in keys {
            guard let item = try await journal.item(key, of: batch.id), states.contains(item.state), let id = item.job
            else { continue }
            if try await give(to: id, scope, in: journal) { count += 1 }
        }
        return count
    }

    /// Has items go on whose submits are unknown and which this document reconciles: it finds what it captures in the responses,
    /// as they were kept, or says how to look for them. Gives the number of items.
    package func accept(in workspace: Workspace, _ journal: any WorkspaceJournal) async throws -> Int {
        var (count, last) = (0, 0)
        while true {
            let page = try await journal.items(of: batch.id, in: [.unknown], after: last, limit: 256)
            guard let end = page.last else { return count }
            last = end.number
            for id in page.compactMap(\.job) where try await accept(id, in: workspace, journal) { count += 1 }
        }
    }

    private func accept(
        _ id: JobID, in workspace: Workspace, _ journal: any WorkspaceJournal
    ) async throws -> Bool {
        guard let job = try await journal.snapshot(of: id) else { return false }
        let unknown = UnknownSubmits(of: job, in: workspace.exchanges.records(of: id))
        let resolutions = unknown.resolutions(by: plan.definition.source)
        guard unknown.mayBeReconciled, unknown.areReconciled(by: resolutions),
            let document = try? MendedDocument(plan, for: job, .failed, resolutions, variables: variables)
        else { return false }
        do throws(JournalFailure) {
            try await journal.adoptAlone(document)
        } catch {
            guard case .owned = error else { throw error }
            return false
        }
        try await workspace.resolve(resolutions, of: document.record, in: journal)
        return true
    }

    private func give(
        to id: JobID, _ scope: RestartScope, in journal: any WorkspaceJournal
    ) async throws(JournalFailure) -> Bool {
        // Most have it already: a brief look tells.
        let brief = try await journal.jobs(JobQuery(prefix: id.text, isBrief: true)).first
        guard brief?.snapshot.record.digest != batch.digest, let job = try await journal.snapshot(of: id),
            let document = try? MendedDocument(plan, for: job, scope, variables: variables)
        else { return false }
        do throws(JournalFailure) {
            try await journal.adoptAlone(document)
            return true
        } catch {
            // A person has it begin again already.
            guard case .owned = error else { throw error }
            return false
        }
    }
}

extension Workspace {
    /// Reconciles submits of a job that nobody owns, each by its own resolution.
    package func resolve(
        _ resolutions: [StepKey: Resolution], of record: JobRecord, in journal: any WorkspaceJournal
    ) async throws {
        let engine = try engine(journal: journal, secrets: try secrets()) { _ in }
        let plan = try await plan(of: record)
        for (key, resolution) in resolutions.sorted(by: { $0.key < $1.key }) {
            try await engine.resolve(record.id, key, plan: plan, as: resolution)
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
