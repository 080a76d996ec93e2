import ArgumentParser
import PipelineCore
import PipelineKit

/// `pipeline rm`: forgets jobs that have ended.
struct RemoveCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "rm", abstract: "Forget jobs that have ended; what they wrote stays.",
        discussion: """
            'pipeline prune' forgets all that ended long ago.

            Example: pipeline rm last
            """)

    @OptionGroup var common: CommonOptions

    @OptionGroup var named: NamedJobs

    func run(in workspace: Workspace, console: Console) async throws -> ExitStatus {
        let journal = try workspace.journalWithJobs()
        return await named.forEach(in: journal, console) { job in
            let id = job.snapshot.record.id
            guard job.owner == nil, job.snapshot.ended != nil else {
                throw CommandError(
                    .usage, "job \(id) has not ended", hint: "'pipeline cancel \(id)' ends it; then it can be removed")
            }
            try await workspace.remove(id, from: journal)
            console.note("forgot job \(id)")
        }
    }
}
