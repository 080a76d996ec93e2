import ArgumentParser
import PipelineKit

/// The folder that results go to.
struct OutputOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Where results are written; the working directory by default.", valueName: "dir"),
        completion: .directory)
    var output: String?

    /// Returns its absolute path; it need not be there yet.
    func folder() throws(CommandError) -> String {
        guard AbsolutePath.isWorkingDirectoryThere || output?.hasPrefix("/") == true else {
            throw CommandError(
                .invalid, "the working directory was removed, and results would be written there",
                hint: "change to another folder, or name one: --output DIR")
        }
        return AbsolutePath.of(output ?? ".", in: AbsolutePath.workingDirectory)
    }
}
