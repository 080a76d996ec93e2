import ArgumentParser
import PipelineCore
import PipelineJournal
import PipelineKit

/// `pipeline journal`: what is done to the journal as a whole.
struct JournalCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "journal", abstract: "Make the tables of a journal that many machines share.",
        discussion: "Example: pipeline journal migrate",
        subcommands: [JournalMigrateCommand.self])
}

/// `pipeline journal migrate`: makes the schema, or brings it up to date.
struct JournalMigrateCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate", abstract: "Make the journal's tables in a database, or bring them up to date.",
        discussion: """
            Once, and after an upgrade: no other command changes tables. Needs the right to create a schema; workers need \
            only to read and write its tables.

            Example: pipeline journal migrate
            Example: pipeline journal migrate --dump > journal.sql
            """)

    @OptionGroup var common: CommonOptions

    @Flag(help: "Print the SQL instead of running it.")
    var dump = false

    func run(in workspace: Workspace, console: Console) async throws -> ExitStatus {
        if dump {
            console.data(PostgresJournal.migrationText)
            return .succeeded
        }
        guard let address = workspace.settings.journalAddress else {
            throw CommandError(
                .usage, "no database is named",
                hint: "set PIPELINE_JOURNAL=postgres://USER@HOST/DATABASE; a state folder's journal migrates by itself")
        }
        guard PostgresJournal.isAddress(address) else {
            throw CommandError(
                .usage, "PIPELINE_JOURNAL is no address of a database", hint: "write postgres://USER@HOST/DATABASE")
        }
        let steps = try PostgresJournal.migrate(address)
        let place = SafeText.line(PostgresJournal.place(of: address))
        console.note(steps == 0 ? "\(place) is up to date" : "\(place) is up to date now, after \(steps) step(s)")
        return .succeeded
    }
}
