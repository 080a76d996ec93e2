import ArgumentParser
import PipelineCore
import PipelineKit

/// `pipeline watch`: shows a job that another process drives, or all of them.
struct WatchCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Watch a job that another process runs, or all of them, until none runs any more.",
        discussion: """
            Without a job it shows all that run now, and those that begin meanwhile; when none does, the newest. On a \
            terminal the jobs that are watched are attended: nothing holds them back, whoever runs them.

            Example: pipeline watch last
            """)

    @OptionGroup var common: CommonOptions

    @Argument(help: "The job: an id, the start of one, a key, or 'last'.", completion: .jobs)
    var job: String?

    @Flag(help: "Write events as JSON Lines.")
    var json = false

    func run(in workspace: Workspace, console: Console) async throws -> ExitStatus {
        let journal = try workspace.journalWithJobs()
        let session = JobSession(
            workspace, journal, console,
            options: JobSession.Options(
                isJSON: json, isPlain: common.plain, overwrites: false,
                interactivity: console.interactivity))
        let driven = try await journal.jobs(JobQuery(isUnfinished: true, isBrief: true)).filter { $0.owner != nil }
        if job == nil, driven.count > 1 {
            return try await session.followAll()
        }
        let named = driven.first.flatMap { job == nil ? $0.snapshot.record.id.text : nil }
        let found = try await JobName(job ?? named ?? "last").find(in: journal)
        if found.owner == nil, journal.shared != nil, found.snapshot.isQueued {
            console.note("it waits for a worker")
        }
        if found.snapshot.batch != nil { return try await BatchSession(session).watch(found) }
        let plan = try await workspace.plan(of: found.snapshot.record)
        let id = found.snapshot.record.id
        let latest: OwnedJob
        var others = ExitStatus.succeeded
        if job == nil {
            others = try await session.followAll(from: (job: found, plan: plan))
            latest = try await journal.jobs(JobQuery(prefix: id.text)).first ?? found
        } else {
            latest = try await session.follow(found, plan: plan)
        }
        return .combined([try await report(latest.snapshot, session), others])
    }

    private func report(_ job: JobSnapshot, _ session: JobSession) async throws -> ExitStatus {
        switch job.phase(isOwned: false) {
        case .succeeded, .failed, .cancelled: return session.summarize(job)
        case .unknown: return try await session.refuseUnknown(job)
        case .running, .waiting, .suspended:
            session.console.note("suspended; go on with: pipeline resume \(job.record.id)")
            return .suspended
        }
    }
}
