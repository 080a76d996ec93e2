import ArgumentParser
import JSONPath
import PipelineCore
import PipelineEngine
import PipelineKit

/// `pipeline budget`: the ledger of background resumes.
struct BudgetCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "budget", abstract: "Show how the budgets of background resumes stand.",
        discussion: "Example: pipeline budget --json")

    @OptionGroup var common: CommonOptions

    @Flag(help: "Write JSON.")
    var json = false

    func run(in workspace: Workspace, console: Console) async throws -> ExitStatus {
        let journal = try workspace.existingJournal()
        let now = SystemClock().now
        let records = try await journal?.resumes(since: now - ResumeRateLimiter.reach, of: nil) ?? []
        let ledger = ResumeLedger(records: records)
        var usages = [ledger.usage(of: nil, under: nil, at: now)]
        for pipeline in ledger.knownPipelines {
            guard let journal else { break }
            let budget = try await Self.budget(of: pipeline, in: journal, workspace)
            usages.append(ledger.usage(of: pipeline, under: budget, at: now))
        }
        if json {
            let entries = records.suffix(Self.shown).map(Self.json)
            console.data(
                JSON.object(["budgets": .array(usages.map(\.json)), "resumes": .array(entries)]).prettyText())
            return .succeeded
        }
        for usage in usages { console.data(SafeText.line(Self.line(usage))) }
        for record in records.suffix(20) { console.data(SafeText.line(Self.line(record))) }
        if records.isEmpty { console.note("no background job has got control back in the last days") }
        return .succeeded
    }

    private static let shown = 1000

    /// The budget by which the newest job of the pipeline goes.
    private static func budget(
        of pipeline: String, in journal: Workspace.Journal, _ workspace: Workspace
    ) async throws -> ResumeBudget {
        guard let job = try await journal.jobs(JobQuery(pipeline: pipeline, limit: 1)).first,
            let plan = try? await workspace.plan(of: job.snapshot.record)
        else { return ResumeBudget(.limited(.standard), in: Scope()) }
        return ResumeBudget(plan.definition.background.budget, in: job.snapshot.documentScope())
    }

    private static func line(_ usage: ResumeUsage) -> String {
        let name = usage.pipeline.map { "pipeline \($0)" } ?? "this machine"
        let window = DurationText.describe(usage.budget.window)
        var line = "\(name): \(usage.used)"
        line += usage.budget.allowance.map { " of \($0) resumes in \(window)" } ?? " resumes in \(window), unlimited"
        if usage.nextDelay > .zero {
            line += "; the next one is delayed by \(DurationText.describe(usage.nextDelay))"
        }
        if let time = usage.fallsBack {
            line += "; delays fall back \(TimeText(now: SystemClock().now).until(time))"
        }
        if let time = usage.replenishesAt {
            line += "; there is room again \(TimeText(now: SystemClock().now).until(time))"
        }
        return line
    }

    private static func line(_ record: ResumeRecord) -> String {
        let step = record.step.map { " '\($0)'" } ?? ""
        let time = TimeText.exact(record.time)
        if record.charge == .attended { return "\(time)  \(record.pipeline): a person attended" }
        let delay =
            record.start > record.time
            ? ", delayed by \(DurationText.rounded((record.start - record.time).seconds))" : ""
        let charge = record.charge == .counted ? "" : " (\(record.charge.rawValue))"
        return "\(time)  \(record.pipeline)\(step): \(record.reason.sentence)\(charge)\(delay)"
    }

    private static func json(_ record: ResumeRecord) -> JSON {
        [
            "time": .string(record.time.description), "pipeline": .string(record.pipeline),
            "job": JSON(record.job?.text), "stage": JSON(record.step?.stage),
            "item": record.step?.item.map { .number(JSONNumber($0)) } ?? .null,
            "reason": record.charge == .attended ? "attended" : .string(record.reason.rawValue),
            "charge": .string(record.charge.rawValue), "delay": .number(JSONNumber(record.delay.seconds)),
            "start": .string(record.start.description),
        ]
    }
}
