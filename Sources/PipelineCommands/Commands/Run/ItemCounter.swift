import PipelineCore
import PipelineKit
import Synchronization

/// Tells a view how many items a stage has: known once the first of them begins.
final class ItemCounter: Sendable {
    private let repeated: Mutex<Set<String>>
    private let journal: Workspace.Journal
    private let view: any EventView

    init(_ plan: Plan, _ journal: Workspace.Journal, _ view: any EventView) {
        repeated = Mutex(Set(plan.stages.filter { $0.forEach != nil }.map(\.id)))
        self.journal = journal
        self.view = view
    }

    /// Returns at once.
    func observe(_ event: JobEvent) {
        guard let step = event.step, step.item != nil, repeated.withLock({ $0.remove(step.stage) }) != nil else {
            return
        }
        Task { [journal, view] in
            let query = JobQuery(prefix: event.job.text, isBrief: true)
            guard let job = try? await journal.jobs(query).first?.snapshot else { return }
            if let count = job.itemCounts[step.stage] { view.expect(count, itemsOf: step.stage) }
        }
    }
}
