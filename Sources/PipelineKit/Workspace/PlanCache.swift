package import PipelineCore
import Synchronization

/// The plans of the documents that were met last: jobs of one document share one.
package final class PlanCache: Sendable {
    private struct State {
        var plans: [String: Plan] = [:]
        /// The documents' digests, those asked for last at the end.
        var order: [String] = []
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
        if let plan = state.withLock({ $0.plans[record.digest] }) { return plan }
        let plan = try await workspace.plan(of: record)
        state.withLock { state in
            state.plans[record.digest] = plan
            state.order.removeAll { $0 == record.digest }
            state.order.append(record.digest)
            while state.order.count > capacity { state.plans[state.order.removeFirst()] = nil }
        }
        return plan
    }
}
