import ArgumentParser
import PipelineCore
import PipelineKit

/// `pipeline watch`: shows a job that another process drives.
struct WatchCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Watch a job that another process runs, until it ends or is suspended.",
        discussion: "Example: pipeline watch last")

    @OptionGroup var common: CommonOptions

    @Argument(help: "The job: an id, the start of one, a key, or 'last'.", completion: .jobs)
    var job: String = "last"

    @Flag(help: "Write events as JSON Lines.")
    var json = false

    func run(in workspace: Workspace, console: Console) async throws -> ExitStatus {
        let journal = try workspace.journalWithJobs()
        let found = try await JobName(job).find(in: journal)
        let session = JobSession(
            workspace, journal, console,
            options: JobSession.Options(isJSON: json, isPlain: common.plain, overwrites: false))
        let latest = try await session.follow(found, plan: try await workspace.plan(of: found.snapshot.record))
        let id = latest.snapshot.record.id
        switch latest.snapshot.phase(isOwned: false) {
        case .succeeded, .failed, .cancelled: return session.summarize(latest.snapshot, isOwned: false)
        case .unknown: return session.refuseUnknown(latest.snapshot)
        case .running, .waiting, .suspended:
            console.note("suspended; go on with: pipeline resume \(id)")
            return .suspended
        }
    }
}
