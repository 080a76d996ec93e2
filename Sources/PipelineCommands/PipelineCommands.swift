import ArgumentParser
import Glibc
import PipelineCore
public import PipelineKit

/// All commands of the program over a catalogue: what an executable of one's own is made of, in three lines.
public enum PipelineCommands {
    /// Runs the command that the arguments name, and exits with its status. `extend` adds kinds of stage, decorators and
    /// notification sinks.
    public static func main(extend: @escaping @Sendable (inout Extensions) -> Void = { _ in }) async -> Never {
        // A file that may not grow further is an error with a message, not the end of the process.
        signal(SIGXFSZ, SIG_IGN)
        ProcessMemory.share()
        QuietCrash.arrange(environment: ProcessEnvironment.all)
        ExternalCommand.replaceProcess(arguments: CommandLine.arguments, environment: ProcessEnvironment.all)
        do {
            let command = try RootCommand.parseAsRoot()
            guard let command = command as? any WorkspaceCommand else {
                var plain = command
                try plain.run()
                exit(ExitStatus.succeeded.rawValue)
            }
            let console = Console(environment: ProcessEnvironment.all, color: command.common.color)
            let status = await status(of: command, console: console, extend: extend)
            if let reason = console.lostOutput {
                console.note("error: cannot write to standard output: \(reason)")
                console.note("  hint: what was done is kept; 'pipeline show' and 'pipeline logs' tell of it again")
                exit(max(status, .failed).rawValue)
            }
            exit(status.rawValue)
        } catch {
            guard let report = UsageReport(error, arguments: Array(CommandLine.arguments.dropFirst())) else {
                RootCommand.exit(withError: error)
            }
            let console = Console(environment: ProcessEnvironment.all, color: .auto)
            for line in report.lines { console.note(line) }
            exit(ExitStatus.usage.rawValue)
        }
    }

    private static func status(
        of command: any WorkspaceCommand, console: Console, extend: @escaping @Sendable (inout Extensions) -> Void
    ) async -> ExitStatus {
        do {
            let settings = try Settings(
                stateFolder: command.common.stateDir, secretsFile: command.common.secretsFile,
                plugins: command.common.plugins, completing: ProcessEnvironment.all)
            return try await command.run(in: Workspace(settings: settings, extend: extend), console: console)
        } catch {
            return ErrorReport(error).show(on: console)
        }
    }
}

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

    @Option(help: "Colours: auto, always or never (NO_COLOR).")
    var color: ColorChoice = .auto

    @Flag(help: "Plain lines instead of a live view.")
    var plain = false
}

/// When colours are used.
enum ColorChoice: String, ExpressibleByArgument, CaseIterable { case auto, always, never }

/// The exit statuses of the program; a contract with scripts.
enum ExitStatus: Int32, Sendable, Comparable {
    case succeeded = 0
    /// The job failed or was cancelled.
    case failed = 1
    /// The pipeline file or the inputs are wrong.
    case invalid = 2
    /// The job's submit is unknown.
    case unknown = 3
    case usage = 64
    /// Suspended; can be resumed.
    case suspended = 75
    /// Interrupted twice.
    case interrupted = 130

    static func < (one: ExitStatus, other: ExitStatus) -> Bool { one.rawValue < other.rawValue }

    /// The status of several jobs: the first of 3, 1, 75, 0 that occurs.
    static func combined(_ statuses: [ExitStatus]) -> ExitStatus {
        for status in [ExitStatus.unknown, .failed, .suspended] where statuses.contains(status) { return status }
        return statuses.first { $0 != .succeeded } ?? .succeeded
    }
}

/// The root: names the commands, does nothing itself.
struct RootCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pipeline", abstract: "Runs jobs made of network stages: upload, compute, download.",
        discussion: """
            A pipeline is a JSON file. 'pipeline run FILE' starts a job and stays with it; whatever stops it, \
            'pipeline resume' goes on where it was.

            Example: pipeline run selfie.json -i video=me.y4m
            """,
        version: Version.text,
        subcommands: [
            RunCommand.self, ResumeCommand.self, ListCommand.self, ShowCommand.self, ResultsCommand.self,
            LogsCommand.self,
            CancelCommand.self, PauseCommand.self, RetryCommand.self, ResolveCommand.self, ValidateCommand.self,
            PlanCommand.self, SchemaCommand.self, InitCommand.self,
            BudgetCommand.self, StatsCommand.self,
            WatchCommand.self, WhyCommand.self, PruneCommand.self, DoctorCommand.self, PluginsCommand.self,
            DaemonCommand.self, SignalCommand.self,
            ConfigCommand.self, ManualCommand.self,
        ])
}
