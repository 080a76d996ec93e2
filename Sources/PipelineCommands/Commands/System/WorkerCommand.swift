import ArgumentParser
import CLibrary
import PipelineCore
import PipelineKit

/// `pipeline worker`: the background owner on a journal that many machines share.
struct WorkerCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "worker", abstract: "Run background jobs of a journal that many machines share.",
        discussion: """
            As many as one likes, on any machine. The journal is the database that PIPELINE_JOURNAL names (postgres://USER@HOST/DATABASE). On SIGTERM it \
            lets its jobs go, which others take up at once; after a kill they do so within 35 s.

            Example: pipeline worker --at-once 64
            """)

    @OptionGroup var common: CommonOptions

    @Option(help: ArgumentHelp("How many jobs run at a time.", valueName: "n"))
    var atOnce = 64

    @OptionGroup var owner: OwnerOptions

    func validate() throws {
        guard (1...10_000).contains(atOnce) else { throw ValidationError("--at-once takes a number from 1 to 10000.") }
    }

    func run(in workspace: Workspace, console: Console) async throws -> ExitStatus {
        guard workspace.settings.journalAddress != nil else {
            throw CommandError(
                .usage, "a worker needs a journal that machines share",
                hint:
                    "set PIPELINE_JOURNAL=postgres://USER@HOST/DATABASE; for a state folder there is 'pipeline daemon'")
        }
        // Said here, where errors have hints, before another program begins.
        let journal = try workspace.openJournal()
        await journal.close()
        // In the environment, where 'ps' of others does not show it: it may hold a password.
        setenv("PIPELINE_JOURNAL", workspace.settings.journalAddress ?? "", 1)
        let arguments = owner.arguments(workspace.settings, plugins: common.plugins)
        try BackgroundOwner.become(arguments + ["--at-once", "\(atOnce)"], workspace.settings)
    }
}
