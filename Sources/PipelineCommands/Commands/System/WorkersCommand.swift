import ArgumentParser
import JSONPath
import PipelineCore
import PipelineJournal
import PipelineKit

/// `pipeline workers`: who works on a journal that many machines share.
struct WorkersCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "workers", abstract: "Show who works on a journal that many machines share.",
        discussion: "Example: pipeline workers")

    @OptionGroup var common: CommonOptions

    @Flag(help: "Write JSON.")
    var json = false

    func run(in workspace: Workspace, console: Console) async throws -> ExitStatus {
        guard let journal = try workspace.existingJournal()?.shared else {
            throw CommandError(
                .usage, "the journal of a state folder has no workers",
                hint: "set PIPELINE_JOURNAL=postgres://USER@HOST/DATABASE for one that machines share")
        }
        let workers = try await journal.workers()
        await journal.close()
        if json {
            console.data(JSON.array(workers.map(\.json)).prettyText())
            return .succeeded
        }
        if workers.isEmpty { console.note("no worker is running; start one with 'pipeline worker'") }
        let now = SystemClock().now
        for worker in workers {
            let age = max(0, Int((now - worker.since).seconds))
            let renewed = max(0, Int((now - worker.renewed).seconds))
            console.data(
                SafeText.line(
                    "\(worker.name)  \(worker.host)  since \(age) s  "
                        + "\(worker.jobs) \(worker.jobs == 1 ? "job" : "jobs")  renewed \(renewed) s ago  \(worker.version)"
                        + (worker.atOnce.map { "  at once \($0)" } ?? "") + (worker.isAlive ? "" : "  gone")))
        }
        return .succeeded
    }
}

extension JournalWorker {
    fileprivate var json: JSON {
        [
            "name": .string(name), "host": .string(host), "since": .string(since.description),
            "renewed": .string(renewed.description), "alive": .bool(isAlive), "jobs": .number(JSONNumber(jobs)),
            "atOnce": atOnce.map { .number(JSONNumber($0)) } ?? .null, "version": .string(version),
        ]
    }
}
