import ArgumentParser
import JSONPath
import PipelineCore
import PipelineKit
import PipelinePictures

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

    @Option(
        help: ArgumentHelp(
            "Write when each stage was at work as a picture, of a batch its rate ('-': standard output).",
            valueName: "file"),
        completion: .file())
    var svg: String?

    func validate() throws {
        if failed, all { throw ValidationError("--failed and --all exclude each other") }
        if svg != nil, json { throw ValidationError("--svg and --json exclude each other") }
    }

    func run(in workspace: Workspace, console: Console) async throws -> ExitStatus {
        let journal = try workspace.journalWithJobs()
        if let svg {
            var (names, drawn): ([String], [Picture]) = ([], [])
            let status = await named.forEach(in: journal, console) { found in
                drawn += try await pictures(of: found, journal, workspace)
                names.append("job \(found.snapshot.record.id)")
            }
            if !names.isEmpty { try PictureFile(drawn).write(to: svg, of: names.joined(separator: ", "), console) }
            return status
        }
        return await named.forEach(
            in: journal, console,
            item: { item, batch in
                let shown = try await ShownItem(item, of: batch, in: journal, isBrief: true)
                if json {
                    console.data(shown.detail.prettyText())
                } else {
                    for line in shown.lines { console.data(SafeText.line(line)) }
                }
            }
        ) { found in
            try await show(found, journal, workspace, console)
        }
    }

    /// The pictures of a job or a batch.
    private func pictures(
        of found: OwnedJob, _ journal: Workspace.Journal, _ workspace: Workspace
    ) async throws -> [Picture] {
        let (snapshot, record, now) = (found.snapshot, found.snapshot.record, SystemClock().now)
        if snapshot.batch != nil {
            let length = max(1, ((snapshot.ended ?? now) - record.started).seconds)
            let slot = Duration.seconds((length / Double(RateChart.columns)).rounded(.up))
            let ends = try await journal.itemEnds(of: record.id, since: record.started, slot: slot)
            return [RateChart(ends, slot: slot).picture].compactMap(\.self)
        }
        let plan = try? await workspace.plan(of: record)
        let order = plan.map { ($0.stages + $0.finally).map(\.id) } ?? []
        let medians = try await workspace.samples(of: record.pipeline)
            .compactMapValues { StageStatistics(stage: "", samples: $0)?.p50 }
        let timeline = Timeline(
            snapshot.steps(inOrder: order), from: record.started, now: snapshot.ended ?? now, medians: medians)
        let bytes = BytesChart(workspace.exchanges.records(of: record.id), from: record.started)
        return [timeline.picture, bytes.picture].compactMap(\.self)
    }

    private func show(
        _ found: OwnedJob, _ journal: Workspace.Journal, _ workspace: Workspace, _ console: Console
    ) async throws {
        if let batch = found.snapshot.batch {
            return try await BatchReport(found, batch).show(
                on: console, isJSON: json, in: journal, of: workspace)
        }
        let record = found.snapshot.record
        // A document that can't be planned any more, for want of a plugin as well, is shown all the same, in the order of
        // the alphabet; as nobody knows which of its captures are secret, none is.
        let plan = try? await workspace.plan(of: record)
        if plan == nil {
            console.note("note: captures are hidden, for this program does not know all that the job's document names")
            console.note("  hint: give the plugins that it ran with, by --plugins DIR or PIPELINE_PLUGINS")
        }
        let order = plan.map { ($0.definition.stages + $0.definition.finally).map(\.id) } ?? []
        let estimate = try await workspace.estimate(of: found, plan, in: journal)
        let report = JobReport(found, plan: plan, estimate: estimate)
        if json { return console.data(report.full(order: order, onlyFailed: failed).prettyText()) }
        let deferral = try await workspace.deferral(of: found, plan, in: journal)
        let text = JobText(
            job: found, report: report, order: order,
            standing: JobStanding(job: found, deferral: deferral, now: SystemClock().now),
            detail: all ? .all : failed ? .failed : .summary,
            exchanges: found.snapshot.ended == nil ? workspace.exchanges.records(of: record.id) : [],
            width: console.dataColumns)
        for line in text.lines { console.data(line) }
        for line in try await JobWarnings(of: found.snapshot, in: journal).lines { console.data(line) }
        let phase = found.phase
        let isOver = phase == .succeeded || phase == .cancelled
        for change in isOver ? [] : try await ChangeNote.all(of: found, plan, in: journal) {
            console.data("\(TextColumns.padded(change.subject, to: 10))\(change.text)" as StyledText)
        }
        if found.suspension == .extension {
            let said = try await found.suspensionDetail(in: journal).map { ": \($0)" } ?? ""
            console.data("the background owner does not know all that its document names\(said)" as StyledText)
        }
        if let worker = try await WorkerText(found, journal) { console.data(SafeText.line(worker.line)) }
    }
}
