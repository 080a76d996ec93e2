import ArgumentParser
import Assertions
import CLibrary
import Logging
import PipelineCore
import PipelineDashboard
import PipelineKit

/// The background owner's program: what `pipeline daemon` runs, and what `pipeline run --detach` starts.
struct DaemonCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pipeline-daemon",
        abstract: "Own the background jobs of a state folder; 'pipeline daemon' starts it.",
        discussion: "Example: pipeline-daemon --listen 127.0.0.1:8765")

    @Option(help: ArgumentHelp("Where jobs are kept (PIPELINE_STATE_DIR).", valueName: "dir"))
    var stateDir: String?

    @Option(help: ArgumentHelp("A file of NAME=value lines with secrets.", valueName: "file"))
    var secretsFile: String?

    @Option(
        help: ArgumentHelp("A folder of plugins, looked at before all others (PIPELINE_PLUGINS).", valueName: "dir"))
    var plugins: String?

    @Option(help: ArgumentHelp("Where pushes are taken; loopback and any port by default.", valueName: "addr"))
    var listen: String?

    @Option(help: ArgumentHelp("On a journal that machines share: how many jobs run at a time.", valueName: "n"))
    var atOnce: Int?

    @Option(help: ArgumentHelp("Serve the pages of the jobs there, HOST:PORT; :0 for any port.", valueName: "addr"))
    var dashboard: String?

    @OptionGroup var pages: DashboardArguments

    @Option(help: ArgumentHelp("Where metrics are given out, for example 127.0.0.1:9477.", valueName: "addr"))
    var metrics: String?

    @Option(
        help: ArgumentHelp("The form of the log's lines: logfmt or json.", valueName: "format"),
        transform: { try DaemonCommand.word($0) })
    var logFormat: LogFormat = .logfmt

    @Option(
        help: ArgumentHelp(
            "The least important that is logged: trace, debug, info, notice, warning, error or critical.",
            valueName: "level"),
        transform: { try DaemonCommand.word($0) })
    var logLevel: LogLevel = .info

    @Flag(help: "Say on descriptor 3 when ready, and end after a while without jobs.")
    var onDemand = false

    func run(extend: @escaping @Sendable (inout Extensions) -> Void) async throws {
        let log = DaemonLog(clock: SystemClock(), format: logFormat, level: logLevel.level)
        let settings: Settings
        do throws(DefinitionError) {
            settings = try Settings(
                stateFolder: stateDir, secretsFile: secretsFile, plugins: plugins,
                completing: ProcessEnvironment.all)
        } catch {
            log.note("cannot start: the configuration is wrong: \(error.report)", level: .error)
            throw ExitCode(2)
        }
        Assertions.use(AssertionFiles(settings: settings))
        do {
            let options = try options(settings.environment)
            // Nobody's folder is kept from being unmounted.
            chdir("/")
            let daemon = try Daemon(Workspace(settings: settings, extend: extend), log: log, options: options)
            try await daemon.run()
        } catch let failure as JournalFailure {
            log.note("cannot start: \(Self.sentence(failure, settings))", level: .error)
            throw ExitCode(1)
        } catch let failure as StepFailure {
            log.note("cannot start: \(failure.title)", level: .error)
            if let hint = failure.hint { log.note("hint: \(hint)", level: .error) }
            throw ExitCode(1)
        }
    }

    /// The value that a word of the command line names.
    private static func word<Value>(_ text: String) throws -> Value
    where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
        guard let value = Value(rawValue: text) else {
            throw ValidationError("it is none of \(Value.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return value
    }

    private func options(_ environment: [String: String]) throws(StepFailure) -> Daemon.Options {
        Daemon.Options(
            listen: listen ?? environment["PIPELINE_LISTEN"], atOnce: atOnce,
            metrics: metrics ?? environment["PIPELINE_METRICS"],
            readyDescriptor: onDemand ? BackgroundOwner.readyDescriptor : nil,
            idleLimit: onDemand ? .seconds(600) : nil,
            dashboard: try dashboard.map { address throws(StepFailure) in try pages.options(listen: address) })
    }

    static func sentence(_ failure: JournalFailure, _ settings: Settings) -> String {
        switch failure {
        case .away, .refused, .full, .notWritable, .moved, .damaged, .newer, .other: failure.description
        case .stale, .owned, .conflict, .keyTaken, .noSuchJob, .busy:
            "the journal in \(settings.stateFolder) is held by another process"
        }
    }
}
