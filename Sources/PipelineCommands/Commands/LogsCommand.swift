import ArgumentParser
import JSONPath
import PipelineCore
import PipelineKit

/// `pipeline logs`: the events of a job.
struct LogsCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "logs", abstract: "Show what happened to a job, event by event.",
        discussion: "Example: pipeline logs last --follow")

    @OptionGroup var common: CommonOptions

    @Argument(help: "The job: an id, the start of one, a key, or 'last'.")
    var job: String = "last"

    @Flag(help: "Go on until the job has ended or is suspended.")
    var follow = false

    @Flag(help: "Write JSON Lines.")
    var json = false

    func run(in workspace: Workspace, console: Console) async throws -> ExitStatus {
        let journal = try workspace.journalWithJobs()
        let id = try await JobName(job).find(in: journal).snapshot.record.id
        var last = 0
        while true {
            // Read before the events: what ends the job after this look is shown in the next round.
            let isOwned = try await journal.jobs(JobQuery(prefix: id.text)).first?.owner != nil
            for event in try await journal.events(of: id, after: last) {
                last = event.sequence ?? last
                show(event, on: console)
            }
            if !follow || !isOwned { return .succeeded }
            try await SystemClock().sleep(until: SystemClock().now + .milliseconds(200))
        }
    }

    private func show(_ event: JobEvent, on console: Console) {
        if json { return console.data(event.json.text) }
        let text =
            EventLine(event).text
            ?? [event.step?.description, event.kind.rawValue].compactMap { $0 }
            .joined(separator: ": ")
        console.data("\(event.time)  \(SafeText.line(text))")
    }
}
