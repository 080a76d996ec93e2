import ArgumentParser
import PipelineKit

/// `pipeline completions SHELL`: the script by which a shell completes commands, options and jobs.
struct CompletionsCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "completions", abstract: "Print the completion script of a shell.",
        discussion: """
            For bash put it into ~/.local/share/bash-completion/completions/pipeline, for zsh as _pipeline into a folder \
            of fpath, for fish into ~/.config/fish/completions/pipeline.fish.

            Example: pipeline completions bash > ~/.local/share/bash-completion/completions/pipeline
            """)

    enum Shell: String, ExpressibleByArgument, CaseIterable { case bash, zsh, fish }

    @OptionGroup var common: CommonOptions

    @Argument(help: "The shell: bash, zsh or fish.")
    var shell: Shell

    func run(in workspace: Workspace, console: Console) async throws -> ExitStatus {
        let known = CompletionShell(rawValue: shell.rawValue) ?? .bash
        console.data(RootCommand.completionScript(for: known))
        return .succeeded
    }
}
