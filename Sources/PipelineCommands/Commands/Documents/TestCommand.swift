import ArgumentParser
import CLibrary
import JSONPath
import PipelineCore
import PipelineKit

/// `pipeline test`: runs a document against recorded exchanges.
struct TestCommand: WorkspaceCommand {
    static let configuration = CommandConfiguration(
        commandName: "test", abstract: "Run a document against recorded exchanges, without a network.",
        discussion: """
            What it would send is compared with what was recorded, in virtual time, by the engine that runs jobs. \
            Recordings are HTTP Archives named after the document, NAME.har and NAME~CASE.har, in the folder \
            'exchanges' next to it. --record makes one from a real run, secrets redacted; what it brings is written as \
            by 'pipeline run'.

            The report is TAP; the status is 1 when anything differs.

            Example: pipeline test selfie.json --crash
            """)

    @OptionGroup var common: CommonOptions

    @Argument(help: "The pipeline file.", completion: .pipelines)
    var file: String

    @OptionGroup var given: InputOptions

    @Option(
        help: ArgumentHelp("Run it for real, and record it in this folder.", valueName: "dir"), completion: .directory)
    var record: String?

    @OptionGroup var destination: OutputOptions

    @Flag(help: "Replace files that exist.")
    var overwrite = false

    @Option(help: ArgumentHelp("Where the recordings are.", valueName: "dir"), completion: .directory)
    var exchanges: String?

    @Flag(help: "Also kill and resume it at each crash point.")
    var crash = false

    func validate() throws {
        if record != nil, crash || exchanges != nil {
            throw ValidationError("--record runs for real: test what it recorded afterwards, without --record")
        }
        if record == nil, overwrite || destination.output != nil {
            throw ValidationError("--output and --overwrite are for --record: a test keeps no results")
        }
    }

    func run(in workspace: Workspace, console: Console) async throws -> ExitStatus {
        if let record {
            let recorder = Recorder(
                workspace, console, file: file, folder: record, output: try destination.folder(), overwrites: overwrite)
            return try await recorder.run(try given.values())
        }
        let recordings = try recordings()
        var report = TestReport(console)
        for recording in recordings {
            let replay = try await replay(of: recording, in: workspace)
            let plain = await replay.run()
            report.add(plain, of: recording)
            if crash { await report.addCrashes(of: replay, plain, recording) }
        }
        report.finish()
        return report.hasFailed ? .failed : .succeeded
    }

    /// The document's recordings, by name.
    private func recordings() throws -> [Recording] {
        let path = AbsolutePath.of(file, in: AbsolutePath.workingDirectory)
        let folder = exchanges ?? AbsolutePath.folder(of: path) + "/exchanges"
        let name = DocumentName.of(path)
        let files = FolderContent.names(folder).filter { file in
            file.hasSuffix(".har") && (file == "\(name).har" || file.hasPrefix("\(name)~"))
        }
        if files.isEmpty {
            throw CommandError(
                .invalid, "there is no \(name).har in \(folder)",
                hint: "make one from a real run: pipeline test \(file) --record \(folder)")
        }
        return try files.sorted().map { try Recording(path: "\(folder)/\($0)") }
    }

    private func replay(of recording: Recording, in workspace: Workspace) async throws -> Replay {
        let source = try JobDraft.source(at: file)
        var values = try given.values()
        let path = AbsolutePath.of(file, in: AbsolutePath.workingDirectory)
        let base = AbsolutePath.folder(of: path)
        let environment = workspace.settings.environment.merging(recording.environment) { $1 }
        let catalogues = await workspace.catalogues(for: source)
        let catalogue = await workspace.catalogue(for: source)
        let plan = try Planner(catalogue: catalogue).plan(source)
        let assigned = Set(values.assignments.map(\.name))
        for member in recording.inputs where values.document[member.name] == nil && !assigned.contains(member.name) {
            values.document[member.name] = Recorder.opened(member.value, of: member.name, in: plan, base: base)
        }
        let draft = try JobDraft(
            path: file, catalogue: catalogue, given: values, environment: environment, standardInput: StandardInput.text
        )
        let sources = try workspace.secrets()
        var secrets: [String: String] = [:]
        for name in draft.plan.secrets { secrets[name] = await sources.secret(name) ?? "secret-\(name)-of-a-test" }
        let folder = try ReplayFolder.make()
        return Replay(
            recording: recording,
            record: draft.record(
                id: recording.job, key: recording.key, started: recording.started, outputFolder: folder,
                overwrites: false),
            secrets: secrets, secretInputs: draft.secretInputs, catalogue: catalogues,
            runsProgram: { workspace.plugins.isAtWork })
    }
}
