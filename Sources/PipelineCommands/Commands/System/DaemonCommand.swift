import ArgumentParser
import PipelineCore
import PipelineKit

/// `pipeline daemon`: becomes the background owner, a program of its own, so that no other command pays for its server.
struct DaemonCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "daemon", abstract: "Own the background jobs: drive them, wake them, take pushes for them.",
        discussion: """
            One for each state folder. 'pipeline run --detach' starts it when there is none. It ends cleanly on SIGTERM, \
            and tells systemd when it is ready.

            Example: pipeline daemon --listen 127.0.0.1:8765
            Example: pipeline daemon --dashboard 127.0.0.1:8700
            """)

    @OptionGroup var common: CommonOptions

    @OptionGroup var owner: OwnerOptions

    func run(in workspace: Workspace, console: Console) async throws -> ExitStatus {
        let arguments = owner.arguments(workspace.settings, plugins: common.plugins)
        try BackgroundOwner.become(arguments, workspace.settings)
    }
}
