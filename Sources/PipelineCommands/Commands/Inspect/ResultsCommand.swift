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
        if csv, json { throw ValidationError("--csv and --json exclude each other.") }
    }

    func run(in workspace: Workspace, console: Console) async throws -> ExitStatus {
        let state = try state.map { try ItemRecord.State(named: $0) }
        let journal = try workspace.journalWithJobs()
        let record = try await journal.batchNamed(batch).record
        if inputs { return try await writeInputs(of: record.id, state, journal, console) }
        let names = ResultRow.names(in: record)
        if csv { console.data(ResultRow.line(ResultRow.columns + names)) }
        try await journal.forEachItem(of: record.id, in: state) { item in
            let row = ResultRow(item, names: names)
            console.data(csv ? row.csv : row.json.text)
        }
        return .succeeded
    }

    /// The inputs alone, as `--each` takes them again.
    private func writeInputs(
        of batch: JobID, _ state: ItemRecord.State?, _ journal: Workspace.Journal, _ console: Console
    ) async throws -> ExitStatus {
        var columns: [String] = []
        if csv {
            var names: Set<String> = []
            try await journal.forEachItem(of: batch, in: state) { names.formUnion($0.inputs.names) }
            columns = names.sorted()
            console.data(ResultRow.line(columns))
        }
        var unreadable: [ItemRecord] = []
        try await journal.forEachItem(of: batch, in: state) { item in
            // A row that is none has no inputs; an empty object would be an item with none.
            if item.inputs.isEmpty, item.state == .failed, item.attempt == 0 {
                unreadable.append(item)
            } else {
                console.data(
                    csv
                        ? ResultRow.line(columns.map { Self.field(item.inputs[$0]) })
                        : JSON.object(item.inputs).text)
            }
        }
        for item in unreadable {
            let place = item.failure?.failure.place ?? item.key
            console.note(SafeText.line("left out: \(place) could not be read: \(item.failure?.failure.title ?? "")"))
        }
        return .succeeded
    }

    private static func field(_ value: JSON?) -> String {
        guard let value, !value.isNull else { return "" }
        return value.string ?? value.text
    }
}
