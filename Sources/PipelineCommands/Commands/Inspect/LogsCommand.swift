import ArgumentParser
import JSONPath
import PipelineCore
import PipelineKit

/// `pipeline logs`: the events of a job.
struct LogsCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "logs", abstract: "Show what happened to a job, event by event.",
        discussion: """
            --curl and --har show the last exchanges of each stage instead, secrets redacted.

            Example: pipeline logs last --follow
            Example: pipeline logs last --har job.har
            """)

    @OptionGroup var common: CommonOptions

    @OptionGroup var named: NamedJob

    @Flag(help: "Go on until the job has ended or is suspended.")
    var follow = false

    @Flag(help: "Write JSON Lines.")
    var json = false

    @Flag(help: "Show the last requests as curl commands.")
    var curl = false

    @Option(
        help: ArgumentHelp(
            "Write the last exchanges as an HTTP Archive 1.2 ('-': standard output).", valueName: "file"),
        completion: .file())
    var har: String?

    func validate() throws {
        if [curl, har != nil, json || follow].count(where: { $0 }) > 1 {
            throw ValidationError("--curl, --har and --json or --follow exclude each other")
        }
    }

    func run(in workspace: Workspace, console: Console) async throws -> ExitStatus {
        let journal = try workspace.journalWithJobs()
        if let har {
            var records: [ExchangeRecord] = []
            let status = await named.forEach(
                in: journal, console, item: { showBeginning(of: $0, of: $1, on: console) },
                {
                    noteItems(of: $0, on: console)
                    records += workspace.exchanges.records(of: $0.snapshot.record.id)
                })
            try write(records, to: har, on: console)
            return status
        }
        return await named.forEach(
            in: journal, console,
            item: { item, batch in
                showBeginning(of: item, of: batch, on: console)
                if follow, let job = try await beginning(of: item, of: batch, in: journal) {
                    try await show(job, workspace, journal, console)
                }
            },
            { try await show($0, workspace, journal, console) })
    }

    private func show(
        _ found: OwnedJob, _ workspace: Workspace, _ journal: Workspace.Journal, _ console: Console
    ) async throws {
        let id = found.snapshot.record.id
        if curl {
            noteItems(of: found, on: console)
            showExchanges(workspace.exchanges.records(of: id), on: console)
        } else if follow {
            _ = try await JobFollower(workspace, journal).follow(found) {
                if $0.kind.isJournaled { show($0, on: console) }
            }
        } else {
            for event in try await journal.events(of: id, after: 0) { show(event, on: console) }
        }
    }

    /// Says of an item without a job why there is nothing to show.
    private func showBeginning(of item: ItemRecord, of batch: JobRecord, on console: Console) {
        let end = item.state.isEnded ? "was never begun: it is \(item.state.rawValue)" : "has not begun"
        console.note(SafeText.line("item \(item.key) of batch \(batch.key) \(end)"))
    }

    /// The job of an item once it has begun; nil when nobody is there to begin it, or when it has ended without one.
    private func beginning(
        of item: ItemRecord, of batch: JobRecord, in journal: Workspace.Journal
    ) async throws -> OwnedJob? {
        let name = JobName("\(batch.key)/\(item.key)")
        while let (latest, _) = try await name.itemWithoutJob(in: journal) {
            guard !latest.state.isEnded, try await JobName(batch.id.text).find(in: journal).owner != nil else {
                return nil
            }
            try await JobFollower.pause(.milliseconds(500))
        }
        return try await name.find(in: journal)
    }

    private func showExchanges(_ records: [ExchangeRecord], on console: Console) {
        if records.isEmpty { console.note("no exchanges are kept of this job") }
        for record in records { console.data(CurlLine(record: record).text) }
    }

    /// Says where the exchanges of a batch are.
    private func noteItems(of found: OwnedJob, on console: Console) {
        guard found.snapshot.batch != nil else { return }
        let key = found.snapshot.record.key
        let item = ShellWord.quoted("\(key)/ITEM")
        console.note("note: \(key) is a batch, whose items send; name one: pipeline logs \(item)")
    }

    private func write(_ records: [ExchangeRecord], to har: String, on console: Console) throws {
        let text = HTTPArchive(records: records).json.prettyText()
        if har == "-" { return console.data(text) }
        let path = AbsolutePath.of(har, in: AbsolutePath.workingDirectory)
        guard FileContent.write(Array((text + "\n").utf8), to: path) else {
            throw CommandError(.usage, "can't write \(har): \(FileContent.reason)", hint: "name another file")
        }
        console.note("\(records.count) exchange\(records.count == 1 ? "" : "s") in \(har)")
    }

    private func show(_ event: JobEvent, on console: Console) {
        if json { return console.data(event.json.text) }
        let time = console.showsData ? TimeText.exact(event.time) : "\(event.time)"
        console.data("\(time, .dim)  \(EventLine(event).whole)")
    }
}
