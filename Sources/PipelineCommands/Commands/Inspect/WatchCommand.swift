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
            try await session.followAll()
            var statuses: [ExitStatus] = []
            for job in driven {
                let latest = try await journal.jobs(JobQuery(prefix: job.snapshot.record.id.text, isBrief: true)).first
                if let latest { statuses.append(Self.status(of: latest.phase)) }
            }
            return .combined(statuses)
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
        if job == nil {
            try await session.followAll(from: (job: found, plan: plan))
            latest = try await journal.jobs(JobQuery(prefix: id.text)).first ?? found
        } else {
            latest = try await session.follow(found, plan: plan)
        }
        switch latest.snapshot.phase(isOwned: false) {
        case .succeeded, .failed, .cancelled: return session.summarize(latest.snapshot)
        case .unknown: return try await session.refuseUnknown(latest.snapshot)
        case .running, .waiting, .suspended:
            console.note("suspended; go on with: pipeline resume \(id)")
            return .suspended
        }
    }

    /// The status of one of several jobs, as it was left.
    private static func status(of phase: JobPhase) -> ExitStatus {
        switch phase {
        case .succeeded: .succeeded
        case .failed, .cancelled: .failed
        case .unknown: .unknown
        case .running, .waiting, .suspended: .suspended
        }
    }
}
