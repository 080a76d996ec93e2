import ArgumentParser
import CLibrary
import PipelineCore
import PipelineDashboard
import PipelineKit
import PipelineMetrics

/// The arguments that say how a dashboard is served, wherever it is.
struct DashboardArguments: ParsableArguments {
    @Flag(help: "Let the pages retry, cancel, pause and resume jobs.")
    var actions = false

    @Option(help: ArgumentHelp("The file of the token that programs bring as a Bearer.", valueName: "file"))
    var tokenFile: String?

    @Option(help: ArgumentHelp("What stands before every path, behind a proxy that keeps it.", valueName: "path"))
    var basePath: String?

    @Option(help: ArgumentHelp("A host that a proxy in front of the pages names.", valueName: "host"))
    var allowHost: [String] = []

    func options(listen: String) throws(StepFailure) -> DashboardOptions {
        try DashboardOptions(
            listen: listen, allowsActions: actions, tokenFile: tokenFile, basePath: basePath ?? "",
            allowedHosts: allowHost)
    }
}

/// Serves the pages over the journal and owns no job: what `pipeline dashboard` runs.
struct DashboardCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dashboard", abstract: "Serve the pages of a state folder's jobs, and own none of them.")

    @Option(help: ArgumentHelp("Where jobs are kept (PIPELINE_STATE_DIR).", valueName: "dir"))
    var stateDir: String?

    @Option(help: ArgumentHelp("Where the pages are served.", valueName: "addr"))
    var listen = "127.0.0.1:0"

    @OptionGroup var pages: DashboardArguments

    @Flag(help: "Do not open a browser.")
    var printOnly = false

    func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        do {
            let settings = try Settings(
                stateFolder: stateDir, secretsFile: nil, plugins: nil, completing: ProcessEnvironment.all)
            let workspace = Workspace(settings: settings)
            let journal = try workspace.openJournal()
            let service = try await DashboardService.start(
                workspace, journal: journal, options: try pages.options(listen: listen),
                metrics: MetricsPage(settings: settings, journal: journal).answer)
            let (wishes, wish) = AsyncStream<Void>.makeStream()
            let signals = StopSignals { wish.yield() }
            defer { withExtendedLifetime(signals) {} }
            let link = service.link()
            Self.say(link + "\n", to: STDOUT_FILENO)
            if !printOnly { Browser.open(link, environment: settings.environment) }
            for await _ in wishes { break }
            await service.stop()
            await journal.close()
        } catch let failure as StepFailure {
            let hint = failure.hint.map { "  hint: \($0)\n" } ?? ""
            Self.say("error: \(failure.title)\n\(hint)", to: STDERR_FILENO)
            throw ExitCode(64)
        } catch let failure as JournalFailure {
            Self.say("error: \(failure)\n", to: STDERR_FILENO)
            throw ExitCode(1)
        } catch let error as DefinitionError {
            Self.say("error: the configuration is wrong: \(error.report)\n", to: STDERR_FILENO)
            throw ExitCode(2)
        }
    }

    private static func say(_ text: String, to descriptor: Int32) {
        let bytes = Array(text.utf8)
        _ = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    }
}
