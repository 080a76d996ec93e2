import ArgumentParser
import JSONPath
import PipelineCore
import PipelineKit

/// `pipeline list`: the jobs, newest first.
struct ListCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List jobs, newest first.",
        discussion: """
            On a terminal it is a table: the shortest part of the id that names the job, its pipeline, its key or what it \
            works on, its state, when it started, how long it took and how much is left. Into a pipe each line has the \
            whole id and the time.

            Example: pipeline list --state suspended
            """,
        aliases: ["ls"])

    @OptionGroup var common: CommonOptions

    @Option(
        help:
            "Only jobs in this state: \(JobPhase.allCases.map(\.rawValue).joined(separator: ", ")); of items also pending, duplicate."
    )
    var state: String?

    @Option(help: ArgumentHelp("The items of a batch instead of jobs.", valueName: "batch"), completion: .jobs)
    var items: String?

    @Option(help: ArgumentHelp("Only jobs of this pipeline.", valueName: "name"), completion: .pipelineNames)
    var pipeline: String?

    @Option(
        parsing: .unconditional, help: ArgumentHelp("At most so many, from 1.", valueName: "n"),
        transform: WholeNumber.from(1))
    var limit: Int?

    @Flag(help: "Write a JSON array.")
    var json = false

    func validate() throws {
        if items != nil, pipeline != nil { throw ValidationError("--items and --pipeline exclude each other.") }
    }

    func run(in workspace: Workspace, console: Console) async throws -> ExitStatus {
        if let items {
            let list = ItemList(
                items, state: try state.map { try ItemRecord.State(named: $0) }, limit: limit, isJSON: json)
            try await list.show(in: try workspace.journalWithJobs(), console)
            return .succeeded
        }
        guard let journal = try workspace.existingJournal() else {
            if json { console.data("[]") } else { console.note(Self.noJobs) }
            return .succeeded
        }
        let jobs = try await chosen(journal)
        if json {
            var rows: [JSON] = []
            var estimates = ListEstimates(journal: journal, workspace: workspace)
            for job in jobs {
                var row: JSON?
                if job.snapshot.batch != nil {
                    let closed = try await workspace.closedServices(of: job, in: journal)
                    row = job.batchSummary(closed: closed)
                }
                let estimate = try await estimates.next(of: job)?.0
                rows.append(row ?? JobReport(job, estimate: estimate).summary)
            }
            console.data(JSON.array(rows).prettyText())
            return .succeeded
        }
        for service in try await journal.closedServices() {
            console.note(SafeText.line(service.line(now: SystemClock().now)))
        }
        if let width = console.dataColumns, !jobs.isEmpty {
            let table = try await JobList(jobs, in: journal, workspace).lines(width: width)
            for line in table { console.data(line) }
            return .succeeded
        }
        for job in jobs { console.data(Self.line(job)) }
        if jobs.isEmpty { console.note(SafeText.line(try await noMatch(in: journal))) }
        return .succeeded
    }

    private static let noJobs = "no jobs; start one with 'pipeline run FILE'"

    /// The line for a list without rows: there may be jobs that were not asked for.
    private func noMatch(in journal: Workspace.Journal) async throws -> String {
        let newest = try await journal.jobs(JobQuery(limit: 500, isBrief: true))
        guard !newest.isEmpty else { return Self.noJobs }
        let names = Set(newest.map(\.snapshot.record.pipeline))
        guard let pipeline, !names.contains(pipeline) else { return "no job matches; 'pipeline list' shows all" }
        return "no job of pipeline '\(pipeline)'; the newest jobs are of \(names.sorted().joined(separator: ", "))"
    }

    private func chosen(_ journal: Workspace.Journal) async throws -> [OwnedJob] {
        let phase = try state.map(ItemList.phase)
        let query = JobQuery(pipeline: pipeline, limit: state == nil ? limit : nil, isBrief: true)
        let jobs = try await journal.jobs(query).filter { job in
            phase.map { $0 == job.phase } ?? true
        }
        return Array(jobs.prefix(limit ?? jobs.count))
    }

    static func line(_ job: OwnedJob) -> StyledText {
        let record = job.snapshot.record
        let phase = job.phase
        let cause = job.suspensionWord.map { " (\($0))" } ?? ""
        let key = record.key == record.id.text ? "" : "  key \(record.key)"
        let counts = job.snapshot.batch.map { "  " + BatchText(key: record.key, batch: $0).brief } ?? ""
        let failures = phase == .succeeded ? job.snapshot.toleratedFailures.count : 0
        let failed = failures == 0 ? "" : ", \(failures) failed"
        let state: StyledText = "\(phase.rawValue, phase.style)\(cause)\(failed)"
        return "\(record.id)  \(record.started)  \(state)  \(record.pipeline)\(key)\(counts)"
    }
}
