import ArgumentParser
import JSONPath
import PipelineCore
import PipelineEngine
import PipelineKit

/// `pipeline resume`: goes on with suspended jobs.
struct ResumeCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Go on with suspended jobs; without a name with the newest.",
        discussion: """
            A failed job goes on only when it is named; its failed steps get fresh attempts.

            Example: pipeline resume last
            """)

    @OptionGroup var common: CommonOptions

    @Argument(help: "Jobs: an id, the start of one, a key, or 'last'.", completion: .jobs)
    var jobs: [String] = []

    @Flag(help: "All suspended jobs.")
    var all = false

    @OptionGroup var secrets: SecretInputOptions

    @OptionGroup var driving: DrivingOptions

    func run(in workspace: Workspace, console: Console) async throws -> ExitStatus {
        let journal = try workspace.journalWithJobs()
        if driving.detach { try Detachment(workspace, console).check() }
        let chosen = try await chosenJobs(journal)
        var statuses: [ExitStatus] = []
        for job in chosen where driving.detach {
            statuses.append(try await hand(job, workspace, console))
        }
        for job in chosen where !driving.detach {
            let session = JobSession(workspace, journal, console, options: driving.session(common, console))
            statuses.append(try await resume(job, session, workspace))
            // A person who stops one job does not want the next to begin.
            if statuses.last == .suspended, session.wasStopped { break }
        }
        return ExitStatus.combined(statuses)
    }

    private func chosenJobs(_ journal: Workspace.Journal) async throws -> [OwnedJob] {
        if !jobs.isEmpty {
            var chosen: [OwnedJob] = []
            for name in jobs { chosen.append(try await JobName(name).find(in: journal)) }
            return chosen
        }
        // Those whose submit is unknown are among them: passing over them would hide that they wait for a person.
        let suspended = try await journal.jobs(JobQuery(isUnfinished: true, isBrief: true)).filter {
            $0.owner == nil && [.suspended, .unknown].contains($0.snapshot.phase(isOwned: false))
        }
        guard let newest = suspended.first else {
            throw CommandError(.usage, "no job is suspended", hint: "'pipeline list' shows all jobs")
        }
        var chosen: [OwnedJob] = []
        for job in all ? suspended : [newest] {
            chosen += try await journal.jobs(JobQuery(prefix: job.snapshot.record.id.text))
        }
        return chosen
    }

    private func resume(_ job: OwnedJob, _ session: JobSession, _ workspace: Workspace) async throws -> ExitStatus {
        if job.snapshot.batch != nil {
            return try await BatchSession(session).resume(job, secretInputs: secrets.input)
        }
        let record = job.snapshot.record
        switch job.snapshot.phase(isOwned: job.owner != nil) {
        case .succeeded, .cancelled: return try await session.showEnd(of: job)
        case .unknown: return try await session.refuseUnknown(job.snapshot)
        case .failed where job.snapshot.wasGivenUp: return try await session.showEnd(of: job)
        case .running, .suspended, .waiting, .failed: break
        }
        let plan = try await workspace.plan(of: record)
        let secret = try SecretInputs(plan: plan, record: record, assignments: secrets.input).values()
        return try await session.resume(
            job, plan: plan, secretInputs: secret,
            again: job.snapshot.ended != nil && !jobs.isEmpty ? .failed : .nothing)
    }

    private func hand(_ job: OwnedJob, _ workspace: Workspace, _ console: Console) async throws -> ExitStatus {
        let record = job.snapshot.record
        if job.snapshot.batch != nil {
            throw CommandError(.usage, "a batch can't be detached yet", hint: "leave --detach out")
        }
        let phase = job.snapshot.phase(isOwned: job.owner != nil)
        if phase == .succeeded || phase == .cancelled {
            console.note("job \(record.id) has ended already")
            return phase == .succeeded ? .succeeded : .failed
        }
        let session = JobSession(
            workspace, try workspace.journalWithJobs(), console, options: driving.session(common, console))
        if phase == .unknown { return try await session.refuseUnknown(job.snapshot) }
        let plan = try await workspace.plan(of: record)
        try await session.checkSecrets(of: plan, for: record)
        let inputs = try SecretInputs(plan: plan, record: record, assignments: secrets.input).values()
        return try await Detachment(workspace, console).hand(
            record.id, plan: plan, secretInputs: inputs, retriesFailed: phase == .failed)
    }
}
