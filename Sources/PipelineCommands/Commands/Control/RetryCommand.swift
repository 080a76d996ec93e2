import ArgumentParser
import JSONPath
import PipelineCore
import PipelineEngine
import PipelineKit

/// `pipeline retry`: does failed steps again, or everything from a stage on.
struct RetryCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Try failed stages again, or everything from a stage on.",
        discussion: """
            With --from the stage and all that need it run as if they never had: a submit is a new one, under a new key. \
            Several jobs go one after the other.

            Example: pipeline retry last --from model
            Example: pipeline retry --failed --pipeline selfie
            """)

    @OptionGroup var common: CommonOptions

    @Argument(help: "Jobs: an id, the start of one, a key, or 'last'.", completion: .jobs)
    var jobs: [String] = []

    @Flag(help: "All jobs that have failed.")
    var failed = false

    @Option(
        help: ArgumentHelp("With --failed: only jobs of this pipeline.", valueName: "name"), completion: .pipelineNames)
    var pipeline: String?

    @Option(help: ArgumentHelp("The first stage to do again.", valueName: "stage"), completion: .stages)
    var from: String?

    @Option(help: ArgumentHelp("Of a batch only this item.", valueName: "key"))
    var item: String?

    @Flag(help: "Replace files that exist.")
    var overwrite = false

    @OptionGroup var secrets: SecretInputOptions

    @OptionGroup var trace: TraceOptions

    @Flag(help: "Write events as JSON Lines.")
    var json = false

    func validate() throws {
        if failed == jobs.isEmpty { return }
        throw ValidationError(
            failed
                ? "Give jobs or --failed, not both."
                : "Missing expected argument '<jobs> ...': name a job, or give --failed.")
    }

    func run(in workspace: Workspace, console: Console) async throws -> ExitStatus {
        let journal = try workspace.journalWithJobs()
        var statuses: [ExitStatus] = []
        for job in try await chosen(in: journal) {
            let session = JobSession(
                workspace, journal, console,
                options: JobSession.Options(
                    isJSON: json, isPlain: common.plain, overwrites: overwrite, attendance: console.attendance,
                    verbosity: trace.verbose))
            do {
                statuses.append(try await retry(job, session, workspace, console))
            } catch {
                // Of several the others have their turn.
                statuses.append(ErrorReport(error).show(on: console))
            }
            // A person who stops one job does not want the next to begin.
            if session.wasStopped { break }
        }
        return ExitStatus.combined(statuses)
    }

    private func chosen(in journal: Workspace.Journal) async throws -> [OwnedJob] {
        var chosen: [OwnedJob] = []
        for name in jobs { chosen.append(try await JobName(name).find(in: journal)) }
        guard failed else { return chosen }
        let known = try await journal.jobs(JobQuery(pipeline: pipeline, isBrief: true))
        for job in known.reversed() where job.snapshot.phase(isOwned: job.owner != nil) == .failed {
            chosen += try await journal.jobs(JobQuery(prefix: job.snapshot.record.id.text))
        }
        if chosen.isEmpty {
            throw CommandError(
                .usage, "no job\(pipeline.map { " of '\($0)'" } ?? "") has failed",
                hint: "'pipeline list --state failed' shows those that have")
        }
        return chosen
    }

    private func retry(
        _ found: OwnedJob, _ session: JobSession, _ workspace: Workspace, _ console: Console
    ) async throws -> ExitStatus {
        let record = found.snapshot.record
        if let batch = try await BatchRetry(found, item: item, hasStage: from != nil).batch(in: session.journal) {
            return try await BatchSession(session).resume(
                batch.job, secretInputs: secrets.input, retries: true, keys: batch.items)
        }
        let plan = try await workspace.plan(of: record)
        if let from, plan.stage(from) == nil {
            let ids = plan.stages.map(\.id)
            throw CommandError(
                .usage, "there is no stage '\(from)' in job \(record.id)",
                hint: "stages here: " + ids.joined(separator: ", "))
        }
        let isUnknown = found.snapshot.steps.contains { key, step in
            step.state.name == .unknown && from.map { plan.dependents(of: $0).contains(key.stage) } ?? true
        }
        if isUnknown { return try await session.refuseUnknown(found.snapshot) }
        if from == nil, found.snapshot.ended != nil, !found.snapshot.hasFailures {
            throw CommandError(
                .usage, "nothing of job \(record.id) has failed",
                hint: "'pipeline retry \(record.id) --from STAGE' does it again from that stage on")
        }
        let secret = try SecretInputs(plan: plan, record: record, assignments: secrets.input).values()
        return try await session.resume(
            found, plan: plan, secretInputs: secret, again: from.map(RestartScope.from) ?? .failed)
    }
}
