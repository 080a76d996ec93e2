import ArgumentParser
import PipelineCore
import PipelineKit

/// `pipeline prune`: forgets jobs that ended long ago.
struct PruneCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune", abstract: "Forget ended jobs; what they wrote stays.",
        discussion: "Example: pipeline prune --older-than 7d")

    @OptionGroup var common: CommonOptions

    @Option(parsing: .unconditional, help: ArgumentHelp("Only jobs that ended longer ago.", valueName: "duration"))
    var olderThan = "30d"

    func run(in workspace: Workspace, console: Console) async throws -> ExitStatus {
        let age: Duration
        do throws(ValueSyntaxError) {
            age = try DurationText.parse(olderThan)
        } catch {
            throw CommandError(.usage, "--older-than: \(error.message)", hint: error.hint)
        }
        guard let journal = try workspace.existingJournal() else {
            console.note("no jobs; nothing to forget")
            return .succeeded
        }
        let limit = journal.clock.now - age
        var count = 0
        for job in try await journal.jobs(JobQuery(isBrief: true)) where job.owner == nil {
            guard let ended = job.snapshot.ended, ended < limit else { continue }
            try await workspace.remove(job.snapshot.record.id, from: journal)
            count += 1
        }
        console.note("forgot \(count) job\(count == 1 ? "" : "s")")
        return .succeeded
    }
}
