import ArgumentParser
import JSONPath
import PipelineCore
import PipelineKit

/// `pipeline show`: all that is known of a job.
struct ShowCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show a job: stages, captures, bytes, error, and when each stage was at work.",
        discussion: """
            A stage that is repeated is one line of counts, then what failed.

            Example: pipeline show last
            Example: pipeline show last --failed
            """)

    @OptionGroup var common: CommonOptions

    @OptionGroup var named: NamedJob

    @Flag(help: "Only what failed, all of it.")
    var failed = false

    @Flag(help: "Each item of stages that are repeated.")
    var all = false

    @Flag(help: "Write JSON.")
    var json = false

    func validate() throws {
        if failed, all { throw ValidationError("--failed and --all exclude each other") }
    }

    func run(in workspace: Workspace, console: Console) async throws -> ExitStatus {
        let journal = try workspace.journalWithJobs()
        return await named.forEach(in: journal, console) { found in
            try await show(found, journal, workspace, console)
        }
    }

    private func show(
        _ found: OwnedJob, _ journal: Workspace.Journal, _ workspace: Workspace, _ console: Console
    ) async throws {
        if let batch = found.snapshot.batch {
            return try await BatchReport(found, batch).show(on: console, isJSON: json, in: journal)
        }
        let record = found.snapshot.record
        // A document that can't be planned any more, for want of a plugin as well, is shown all the same, in the order of
        // the alphabet; as nobody knows which of its captures are secret, none is.
        let plan = try? await workspace.plan(of: record)
        let order = plan.map { ($0.definition.stages + $0.definition.finally).map(\.id) } ?? []
        let secret = plan.map { plan in
            Dictionary(
                uniqueKeysWithValues: (plan.stages + plan.finally).map { stage in
                    (stage.id, Set(stage.captures.filter(\.isSecret).map(\.name)))
                })
        }
        let estimate = try await workspace.estimate(of: found, plan, in: journal)
        let report = JobReport(found, secretCaptures: secret, estimate: estimate)
        if json { return console.data(report.full(order: order).prettyText()) }
        let deferral = try await workspace.deferral(of: found, plan, in: journal)
        let text = JobText(
            job: found, report: report, order: order,
            standing: JobStanding(job: found, deferral: deferral, now: SystemClock().now),
            detail: all ? .all : failed ? .failed : .summary,
            exchanges: found.snapshot.ended == nil ? workspace.exchanges.records(of: record.id) : [],
            width: console.dataColumns)
        for line in text.lines { console.data(line) }
        if let worker = try await WorkerText(found, journal) { console.data(SafeText.line(worker.line)) }
    }
}
