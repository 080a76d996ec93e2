import ArgumentParser
import PipelineKit

/// A command that works on the state folder.
protocol WorkspaceCommand: ParsableCommand {
    var common: CommonOptions { get }
    func run(in workspace: Workspace, console: Console) async throws -> ExitStatus
}

/// The flags that every command has.
struct CommonOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Where jobs are kept (PIPELINE_STATE_DIR).", valueName: "dir"), completion: .directory)
    var stateDir: String?

    @Option(help: ArgumentHelp("A file of NAME=value lines with secrets.", valueName: "file"), completion: .file())
    var secretsFile: String?

    @Option(
        help: ArgumentHelp("A folder of plugins, looked at before all others (PIPELINE_PLUGINS).", valueName: "dir"),
        completion: .directory)
    var plugins: String?

    @Option(help: ArgumentHelp("A section of the configuration file (PIPELINE_PROFILE).", valueName: "name"))
    var profile: String?

    @Option(help: "Colours: auto, always or never (NO_COLOR).")
    var color: ColorChoice = .auto

    @Flag(help: "Plain lines instead of a live view.")
    var plain = false
}
