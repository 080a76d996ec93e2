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
            let status = await named.forEach(in: journal, console) {
                records += workspace.exchanges.records(of: $0.snapshot.record.id)
            }
            try write(records, to: har, on: console)
            return status
        }
        return await named.forEach(in: journal, console) { found in
            let id = found.snapshot.record.id
            if curl {
                showExchanges(workspace.exchanges.records(of: id), on: console)
            } else if follow {
                _ = try await JobFollower(workspace, journal).follow(found) {
                    if $0.kind.isJournaled { show($0, on: console) }
                }
            } else {
                for event in try await journal.events(of: id, after: 0) { show(event, on: console) }
            }
        }
    }

    private func showExchanges(_ records: [ExchangeRecord], on console: Console) {
        if records.isEmpty { console.note("no exchanges are kept of this job") }
        for record in records { console.data(CurlLine(record: record).text) }
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
