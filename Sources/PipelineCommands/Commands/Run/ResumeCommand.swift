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
            A failed job goes on only when it is named; its failed steps get fresh attempts. Several jobs go on side by \
            side.

            Example: pipeline resume last
            """)

    @OptionGroup var common: CommonOptions

    @Argument(help: "Jobs: an id, the start of one, a key, or 'last'.", completion: .jobs)
    var jobs: [String] = []

    @Flag(help: "All suspended jobs.")
    var all = false

    @OptionGroup var side: ConcurrencyOptions

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Of a batch that has spent what it may: how much items may cost in all.", valueName: "amount"))
    var spend: Double?

    @OptionGroup var secrets: SecretInputOptions

    @OptionGroup var driving: DrivingOptions

    func validate() throws {
        if all, !jobs.isEmpty { throw ValidationError("--all and jobs by name exclude each other.") }
    }

    func run(in workspace: Workspace, console: Console) async throws -> ExitStatus {
        let journal = try workspace.journalWithJobs()
        if driving.detach { try Detachment(workspace, console).check() }
        let chosen = try await chosenJobs(journal)
        let given = secrets.assignments
        var statuses: [ExitStatus] = []
        if driving.detach {
            for job in chosen { statuses.append(try await hand(job, given, workspace, console)) }
            return ExitStatus.combined(statuses)
        }
        let session = JobSession(workspace, journal, console, options: driving.session(common, console))
        let isNamed = !jobs.isEmpty
        let resumption = JobResumption(
            session: session, concurrency: side.concurrency, secretInputs: given
        ) { job, plans in
            switch job.phase {
            case .succeeded, .cancelled: return .rest
            case .unknown: return .unknown
            case .failed where job.snapshot.wasGivenUp: return .rest
            case .running, .suspended, .waiting, .failed: break
            }
            let plan = try await plans.plan(of: job.snapshot.record)
            return .run(plan: plan, again: job.snapshot.ended != nil && isNamed ? .failed : .nothing)
        }
        statuses += try await resumption.run(chosen.filter { $0.snapshot.batch == nil })
        // A person who stops jobs does not want a batch to begin.
        for batch in chosen where batch.snapshot.batch != nil && !session.wasStopped {
            do {
                statuses.append(try await BatchSession(session).resume(batch, secretInputs: given, spend: spend))
            } catch {
                // Of several the others have their turn.
                statuses.append(ErrorReport(error).show(on: console))
            }
        }
        return ExitStatus.combined(statuses)
    }

    /// The jobs to go on with, each once; of their inputs and captures nothing is read yet.
    private func chosenJobs(_ journal: Workspace.Journal) async throws -> [OwnedJob] {
        if !jobs.isEmpty {
            var chosen: [OwnedJob] = []
            for name in jobs { chosen.append(try await JobName(name).find(in: journal)) }
            var known: Set<JobID> = []
            return chosen.filter { known.insert($0.snapshot.record.id).inserted }
        }
        // Those whose submit is unknown are among them: passing over them would hide that they wait for a person.
        let suspended = try await journal.jobs(JobQuery(isUnfinished: true, isBrief: true)).filter {
            $0.owner == nil && [.suspended, .unknown].contains($0.snapshot.phase(isOwned: false))
        }
        guard let newest = suspended.first else {
            // To a timer that asks every ten minutes it is no mistake.
            if all { return [] }
            throw CommandError(.usage, "no job is suspended", hint: "'pipeline list' shows all jobs")
        }
        return all ? suspended.reversed() : [newest]
    }

    private func hand(
        _ brief: OwnedJob, _ given: SecretAssignments, _ workspace: Workspace, _ console: Console
    ) async throws -> ExitStatus {
        let session = JobSession(
            workspace, try workspace.journalWithJobs(), console, options: driving.session(common, console))
        let job = try await session.whole(brief)
        let record = job.snapshot.record
        let phase = job.phase
        if phase == .succeeded || phase == .cancelled {
            console.note("job \(record.id) has ended already")
            // What is still to be told of it may need a secret that the background owner has no more. Workers have their own.
            if job.snapshot.nextTelling != nil, workspace.settings.journalAddress == nil {
                let plan = try await workspace.plan(of: record)
                let inputs = try await given.known(of: record, in: plan, workspace)
                _ = try await Detachment(workspace, console).hand(record.id, plan: plan, secretInputs: inputs)
            }
            return phase == .succeeded ? .succeeded : .failed
        }
        if job.snapshot.batch != nil {
            // It goes on without this terminal, which is all that was asked for.
            if job.owner != nil, job.snapshot.mode == .background, job.snapshot.request == nil, spend == nil {
                console.note("batch \(record.key) is running in the background already")
                console.data(record.key)
                return .succeeded
            }
            return try await BatchSession(session, isDetached: true).resume(
                job, secretInputs: given, spend: spend)
        }
        if phase == .unknown { return try await session.refuseUnknown(job.snapshot) }
        return try await session.hand(
            job.snapshot, try await workspace.plan(of: record), given, retriesFailed: phase == .failed)
    }
}
