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
            With --from the stage and all that need it run as if they never had: a submit is a new one, under a new key.

            Example: pipeline retry last --from model
            """)

    @OptionGroup var common: CommonOptions

    @Argument(help: "The job: an id, the start of one, a key, or 'last'.", completion: .jobs)
    var job: String

    @Option(help: ArgumentHelp("The first stage to do again.", valueName: "stage"), completion: .stages)
    var from: String?

    @Option(help: ArgumentHelp("Of a batch only this item.", valueName: "key"))
    var item: String?

    @Flag(help: "Replace files that exist.")
    var overwrite = false

    @OptionGroup var secrets: SecretInputOptions

    @Flag(help: "Write events as JSON Lines.")
    var json = false

    func run(in workspace: Workspace, console: Console) async throws -> ExitStatus {
        let journal = try workspace.journalWithJobs()
        let found = try await JobName(job).find(in: journal)
        let record = found.snapshot.record
        let session = JobSession(
            workspace, journal, console,
            options: JobSession.Options(
                isJSON: json, isPlain: common.plain, overwrites: overwrite, attendance: console.attendance))
        if let batch = try await BatchRetry(found, item: item, hasStage: from != nil).batch(in: journal) {
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
        if isUnknown { return session.refuseUnknown(found.snapshot) }
        let hasFailed = found.snapshot.steps.values.contains { [.failed, .cancelled].contains($0.state.name) }
        if from == nil, found.snapshot.ended != nil, !hasFailed {
            throw CommandError(
                .usage, "nothing of job \(record.id) has failed",
                hint: "'pipeline retry \(record.id) --from STAGE' does it again from that stage on")
        }
        let secret = try SecretInputs(plan: plan, record: record, assignments: secrets.input).values()
        return try await session.resume(
            found, plan: plan, secretInputs: secret, again: from.map(RestartScope.from) ?? .failed)
    }
}
