import ArgumentParser
import CLibrary
import JSONPath
import PipelineKit

/// `pipeline manual DIR`: writes a manual page for each command, for the installation.
struct ManualCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "manual", abstract: "Write the manual pages of all commands into a folder.",
        discussion: "Example: pipeline manual /usr/local/share/man/man1", shouldDisplay: false)

    @OptionGroup var common: CommonOptions

    @Argument(help: "The folder.", completion: .directory)
    var folder: String

    func run(in workspace: Workspace, console: Console) async throws -> ExitStatus {
        guard let root = try? JSON.parse(Array(RootCommand._dumpHelp().utf8))["command"] else { return .failed }
        let path = AbsolutePath.of(folder, in: AbsolutePath.workingDirectory)
        for page in ManualPage.all(of: root) {
            let file = "\(path)/\(page.name).1"
            guard FileContent.write(Array(page.text.utf8), to: file), chmod(file, 0o644) == 0 else {
                throw CommandError(
                    .usage, "can't write \(file): \(FileContent.reason)", hint: "name a folder that exists")
            }
            console.data(file)
        }
        return .succeeded
    }
}
