import ArgumentParser
import CLibrary
import PipelineCore
import PipelineKit

/// `pipeline init`: writes a pipeline to start from.
struct InitCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Write a pipeline to start from.",
        discussion: """
            Without a name it writes pipeline.json: an upload, a job and a download, with comments. With the name of \
            an example it writes that: \(ShippedExamples.names.joined(separator: ", ")).

            With --from-curl it is made from one to four curl commands, as browsers and API pages give them: an upload, the \
            submit, the poll, the download; one text may have several, a line each. Files become inputs, credentials secrets; \
            what is guessed is marked by comments. With --try the first one is sent, once: the id and the state are \
            where the response has them, and where the job is asked for is found without the second command.

            Example: pipeline init openai-batch
            Example: pipeline init transcribe --from-curl "$(cat submit.txt)" --from-curl "$(cat poll.txt)"
            """)

    @OptionGroup var common: CommonOptions

    @Argument(
        help: "The name of an example; with --from-curl that of the pipeline.", completion: .list(ShippedExamples.names)
    )
    var name: String?

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("A curl command to make the pipeline from; up to four.", valueName: "command"))
    var fromCurl: [String] = []

    @Flag(
        name: .customLong("try"),
        help: "Run the first curl command, once, to read the job's id, address and state from what comes back.")
    var sendsFirst = false

    func run(in workspace: Workspace, console: Console) async throws -> ExitStatus {
        let (path, text) = try document(workspace.settings.environment)
        let target = AbsolutePath.of(path, in: AbsolutePath.workingDirectory)
        try Self.write(text, to: target, as: path, hint: "nothing of it is kept; make room, and type it again")
        console.data(target)
        try await writeSchema(for: text, workspace, console)
        let plan = try Planner(catalogue: workspace.catalogue).plan(SourceText(name: path, text: text))
        for line in FirstCommands(plan, path: path).lines { console.note(line) }
        return .succeeded
    }

    /// The schema that the document names stands next to it: editors complete by it.
    private func writeSchema(for text: String, _ workspace: Workspace, _ console: Console) async throws {
        guard text.contains("\"./\(Self.schema)\""), access(Self.schema, F_OK) != 0 else { return }
        let schema = PipelineSchema(catalogue: await workspace.wholeCatalogue()).json.prettyText()
        try Self.write(
            schema + "\n", to: AbsolutePath.of(Self.schema, in: AbsolutePath.workingDirectory), as: Self.schema,
            hint: "the pipeline is whole; make room, then: pipeline schema > \(Self.schema)")
        console.note("for editors:             \(Self.schema)")
    }

    private static let schema = "pipeline.schema.json"

    /// Writes a file that is not there yet, all of it or nothing.
    ///
    /// - Parameter hint: what to do when not all of it can be written.
    private static func write(_ text: String, to target: String, as path: String, hint: String) throws {
        let descriptor = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            let isThere = errno == EEXIST
            throw CommandError(
                .invalid, isThere ? "\(path) is there already" : "cannot write \(path): \(FileContent.reason)",
                hint: isThere ? "it is not replaced; move it, or run this in another folder" : nil)
        }
        defer { close(descriptor) }
        guard FileContent.write(Array(text.utf8), to: descriptor) else {
            let reason = FileContent.reason
            unlink(target)
            throw CommandError(.invalid, "cannot write \(path): \(reason)", hint: hint)
        }
    }

    /// Throws where the document can't be written, before anything is sent for it.
    private static func checkPlace(of path: String) throws {
        let target = AbsolutePath.of(path, in: AbsolutePath.workingDirectory)
        try write("", to: target, as: path, hint: "nothing was sent; make room, and type it again")
        unlink(target)
    }

    private func documentFromCurl(_ environment: [String: String]) throws -> (path: String, text: String) {
        let bare = name.map { $0.hasSuffix(".json") ? String($0.dropLast(5)) : $0 }
        let folder = AbsolutePath.workingDirectory.split(separator: "/").last.map(String.init) ?? ""
        let title = StarterDocument.name(for: bare?.split(separator: "/").last.map(String.init) ?? folder)
        let path = "\(bare ?? "pipeline").json"
        if sendsFirst { try Self.checkPlace(of: path) }
        do throws(CurlMistake) {
            let program = CurlProgram(environment: environment)
            let trial = try sendsFirst ? CurlTrial(fromCurl, by: program) : nil
            return (path, try CurlDocument(fromCurl, name: title, trial: trial).text())
        } catch {
            throw CommandError(.usage, error.message, hint: error.hint)
        }
    }

    private func document(_ environment: [String: String]) throws -> (path: String, text: String) {
        if !fromCurl.isEmpty { return try documentFromCurl(environment) }
        if sendsFirst {
            throw CommandError(
                .usage, "--try sends the first command of --from-curl, and there is none",
                hint: "pipeline init --from-curl 'curl …' --try")
        }
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
