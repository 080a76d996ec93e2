package import PipelineCore
import Synchronization

/// The plans of the documents that were met last: jobs of one document share one.
package final class PlanCache: Sendable {
    private struct State {
        var plans: [String: Plan] = [:]
        /// The documents' digests, those asked for last at the end.
        var order: [String] = []

        /// The plan of a document, which is then the one asked for last.
        mutating func plan(of digest: String) -> Plan? {
            guard let plan = plans[digest] else { return nil }
            if order.last != digest {
                order.removeAll { $0 == digest }
                order.append(digest)
            }
            return plan
        }
    }

    private let workspace: Workspace
    private let capacity: Int
    private let state = Mutex(State())

    package init(_ workspace: Workspace, capacity: Int = 16) {
        self.workspace = workspace
        self.capacity = capacity
    }

    /// The plan of a job, from the document that it started with.
    package func plan(of record: JobRecord) async throws(DefinitionError) -> Plan {
        if let plan = state.withLock({ $0.plan(of: record.digest) }) { return plan }
        let plan = try await workspace.plan(of: record)
        state.withLock { state in
            state.plans[record.digest] = plan
            _ = state.plan(of: record.digest)
            while state.order.count > capacity { state.plans[state.order.removeFirst()] = nil }
        }
        return plan
    }
}
