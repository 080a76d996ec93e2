import PipelineEngine
import PipelineKit

/// Jobs that a command runs until each has come to rest: what is asked of them by other processes reaches them, and a
/// signal suspends them.
struct SignalledJobs {
    let journal: Workspace.Journal
    /// Shows a line to the person.
    let note: @Sendable (String) -> Void

    /// Runs what the scheduler has been given, and returns whether a signal stopped it.
    func run(_ scheduler: JobScheduler) async -> Bool {
        let slow = SlowStop(note: note)
        defer { slow.end() }
        let signals = slow.signals { scheduler.suspend(.interrupted) }
        let requests = journal.requests(for: journal.owner)
        let attentions = journal.attentions()
        scheduler.close()
        await withDiscardingTaskGroup { group in
            group.addTask { for await job in requests { scheduler.knock(job) } }
            group.addTask { for await attention in attentions { scheduler.take(attention) } }
            await scheduler.run()
            group.cancelAll()
        }
        return signals.count > 0
    }
}
