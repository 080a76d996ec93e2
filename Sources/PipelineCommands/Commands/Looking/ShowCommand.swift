import ArgumentParser
import JSONPath
import PipelineCore
import PipelineKit

/// `pipeline show`: all that is known of a job.
struct ShowCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show a job: stages, captures, bytes, error, and when each stage was at work.",
        discussion: "Example: pipeline show last")

    @OptionGroup var common: CommonOptions

    @OptionGroup var named: NamedJob

    @Flag(help: "Write JSON.")
    var json = false

    func run(in workspace: Workspace, console: Console) async throws -> ExitStatus {
        let journal = try workspace.journalWithJobs()
        let found = try await JobName(named.job).find(in: journal)
        if let batch = found.snapshot.batch {
            try await BatchReport(found, batch).show(on: console, isJSON: json, in: journal)
            return .succeeded
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
        let estimate = found.snapshot.ended == nil ? try await Self.estimate(found, plan, journal, workspace) : nil
        let report = JobReport(found, secretCaptures: secret, estimate: estimate)
        if json {
            console.data(report.full(order: order).prettyText())
        } else {
            JobText(job: found, report: report, order: order, now: SystemClock().now).lines.forEach {
                console.data(SafeText.line($0))
            }
        }
        return .succeeded
    }

    /// How long it still takes, from earlier jobs of its pipeline and the author's guesses.
    private static func estimate(
        _ found: OwnedJob, _ plan: Plan?, _ journal: Workspace.Journal, _ workspace: Workspace
    ) async throws -> JobEstimate? {
        guard let plan else { return nil }
        let (job, now) = (found.snapshot, SystemClock().now)
        let samples = try await workspace.samples(of: job.record.pipeline)
        // What nobody has is held back by nothing but that.
        let events =
            found.owner == nil ? [] : try await journal.events(of: job.record.id, after: max(0, job.sequence - 64))
        return JobEstimate(
            job, plan: plan, samples: samples, at: now,
            heldUntil: { events.deferral(of: $0, in: job, plan, at: now)?.until })
    }
}
