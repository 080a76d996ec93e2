import ArgumentParser
import JSONPath
import PipelineCore
import PipelineKit

/// `pipeline results`: what became of the items of a batch.
struct ResultsCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "results", abstract: "Write a row for each item of a batch, as JSON Lines or CSV.",
        discussion: """
            With --inputs the rows are the inputs alone, which 'run --each -' takes.

            Example: pipeline results june --state failed
            """)

    @OptionGroup var common: CommonOptions

    @Argument(help: "The batch: its key, the start of its job's id, or 'last'.", completion: .jobs)
    var batch: String = "last"

    @Option(help: "Only items in this state: \(ItemRecord.State.allCases.map(\.rawValue).joined(separator: ", ")).")
    var state: String?

    @Flag(help: "JSON Lines, which is the default.")
    var json = false

    @Flag(help: "CSV with a header line.")
    var csv = false

    @Flag(help: "The inputs of the items instead of what became of them.")
    var inputs = false

    func validate() throws {
        if csv, json || inputs { throw ValidationError("--csv goes with neither --json nor --inputs.") }
    }

    func run(in workspace: Workspace, console: Console) async throws -> ExitStatus {
        let states = try state.map { Set([try ItemList.state($0)]) }
        let journal = try workspace.journalWithJobs()
        let id = try await journal.batchNamed(batch).record.id
        if csv { return try await writeTable(of: id, states, journal, console) }
        try await journal.forEachItem(of: id, in: states) { item in
            console.data((inputs ? JSON.object(item.inputs) : ResultRow(item).json).text)
        }
        return .succeeded
    }

    private func writeTable(
        of batch: JobID, _ states: Set<ItemRecord.State>?, _ journal: Workspace.Journal, _ console: Console
    ) async throws -> ExitStatus {
        var names: Set<String> = []
        try await journal.forEachItem(of: batch, in: [.succeeded]) { names.formUnion($0.results.names) }
        let columns = names.sorted()
        console.data(ResultRow.line(ResultRow.columns + columns))
        try await journal.forEachItem(of: batch, in: states) { item in
            console.data(ResultRow(item).csv(results: columns))
        }
        return .succeeded
    }
}
