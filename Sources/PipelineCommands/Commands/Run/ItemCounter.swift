import PipelineCore
import PipelineKit
import Synchronization

/// Tells a view how many items a stage has: known once the first of them begins.
final class ItemCounter: Sendable {
    /// The stages that have not been counted yet, and the stage whose items each is for: one that follows another has an
    /// item for each of the other's, as they end.
    private let repeated: Mutex<[String: String]>
    private let journal: Workspace.Journal
    private let view: any EventView

    init(_ plan: Plan, _ journal: Workspace.Journal, _ view: any EventView) {
        var repeated: [String: String] = [:]
        for stage in plan.stages where stage.forEach != nil {
            repeated[stage.id] = stage.forEach?.followed.map { repeated[$0] ?? $0 } ?? stage.id
        }
        self.repeated = Mutex(repeated)
        self.journal = journal
        self.view = view
    }

    /// Returns at once. Only with an event that is journaled, the steps of all items are: an estimate comes before it.
    func observe(_ event: JobEvent) {
        guard event.kind.isJournaled, let step = event.step, step.item != nil,
            let origin = repeated.withLock({ $0.removeValue(forKey: step.stage) })
        else { return }
        Task { [journal, view] in
            let query = JobQuery(prefix: event.job.text, isBrief: true)
            guard let job = try? await journal.jobs(query).first?.snapshot else { return }
            if let count = job.itemCounts[origin] { view.expect(count, itemsOf: step.stage) }
        }
    }
}
