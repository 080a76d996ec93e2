import ArgumentParser
import Glibc
import PipelineCore
import PipelineKit

/// `pipeline init`: writes a pipeline to start from.
struct InitCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Write a pipeline to start from.",
        discussion: """
            Without a name it writes pipeline.json: an upload, a job and a download, with comments. With the name of \
            an example it writes that: \(ShippedExamples.names.joined(separator: ", ")).

            Example: pipeline init openai-batch
            """)

    @OptionGroup var common: CommonOptions

    @Argument(help: "The name of an example.", completion: .list(ShippedExamples.names))
    var name: String?

    func run(in workspace: Workspace, console: Console) async throws -> ExitStatus {
        let (path, text) = try document()
        let target = AbsolutePath.of(path, in: AbsolutePath.workingDirectory)
        let descriptor = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            let isThere = errno == EEXIST
            throw CommandError(
                .invalid, isThere ? "\(path) is there already" : "cannot write \(path): \(FileContent.reason)",
                hint: isThere ? "it is not replaced; move it, or run this in another folder" : nil)
        }
        defer { close(descriptor) }
        guard write(descriptor, text, text.utf8.count) == text.utf8.count else {
            throw CommandError(.invalid, "cannot write \(path): \(FileContent.reason)")
        }
        console.data(target)
        let plan = try Planner(catalogue: workspace.catalogue).plan(SourceText(name: path, text: text))
        for line in FirstCommands(plan, path: path).lines { console.note(line) }
        return .succeeded
    }

    private func document() throws -> (path: String, text: String) {
        guard let name else {
            let folder = AbsolutePath.workingDirectory.split(separator: "/").last.map(String.init) ?? ""
            return ("pipeline.json", StarterDocument.text(named: StarterDocument.name(for: folder)))
        }
        let bare = name.hasSuffix(".json") ? String(name.dropLast(5)) : name
        if let text = ShippedExamples.text(of: bare) { return ("\(bare).json", text) }
        let guess = Suggestion.nearest(to: bare, among: ShippedExamples.names)
        throw CommandError(
            .usage, "there is no example called '\(name)'",
            hint: guess.map { "did you mean '\($0)'?" }
                ?? "there are \(ShippedExamples.names.joined(separator: ", ")); without a name a starter is written")
    }
}
