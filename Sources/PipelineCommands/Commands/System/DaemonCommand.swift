import ArgumentParser
import CLibrary
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
        let program = try BackgroundOwner.program(path: workspace.settings.environment["PATH"])
        var arguments = [program, "--state-dir", workspace.settings.stateFolder]
        if let file = workspace.settings.secretsFile { arguments += ["--secrets-file", file] }
        if let folder = common.plugins {
            arguments += ["--plugins", AbsolutePath.of(folder, in: AbsolutePath.workingDirectory)]
        }
        arguments += owner.arguments
        var pointers: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        execv(program, &pointers)
        throw CommandError(.failed, "cannot run \(program): \(FileContent.reason)")
    }
}
