import ArgumentParser
import PipelineCore
import PipelineEngine
import PipelineKit

/// `pipeline pause`: suspends jobs until they are resumed by name.
struct PauseCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Suspend jobs; 'pipeline resume' goes on with them.",
        discussion: "Example: pipeline pause last")

    @OptionGroup var common: CommonOptions

    @OptionGroup var named: NamedJobs

    func run(in workspace: Workspace, console: Console) async throws -> ExitStatus {
        let journal = try workspace.journalWithJobs()
        return await named.forEach(
            in: journal, console,
            item: { item, batch in
                throw CommandError(
                    .usage, SafeText.line("item \(item.key) of batch \(batch.key) was not begun, and can't be paused"),
                    hint: "'pipeline pause \(batch.key)' holds all of the batch, 'pipeline cancel' takes the item out")
            }
        ) { job in
            let id = job.snapshot.record.id
            if job.phase.isEnded {
                console.note("job \(id) has ended already")
            } else if job.phase == .unknown, job.snapshot.batch == nil {
                console.note("job \(id) does nothing until a person has said what became of a submit")
                console.note("  hint: 'pipeline resolve \(id)' settles it")
            } else if job.snapshot.request == .cancel {
                console.note("job \(id) is to be cancelled, and is not paused")
            } else if try await journal.post(.pause, to: id) {
                console.note("job \(id): its process was told to pause")
            } else {
                let engine = try workspace.engine(journal: journal, secrets: try workspace.secrets()) { _ in }
                try await engine.pause(id)
                // Those of its items that go on by themselves are not to.
                for item in try await journal.items(of: id, in: [.running], after: 0, limit: .max) {
                    guard let own = item.job, try await !journal.post(.pause, to: own) else { continue }
                    try await engine.pause(own)
                }
                console.note("job \(id) is paused; go on with: pipeline resume \(id)")
            }
        }
    }
}
