import ArgumentParser
import CLibrary
import PipelineCore
import PipelineKit

/// The options of what a background owner gives out and takes, on whichever journal it is.
struct OwnerOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Where pushes are taken; loopback and any port by default.", valueName: "addr"))
    var listen: String?

    @Option(help: ArgumentHelp("Serve the pages of the jobs there, HOST:PORT.", valueName: "addr"))
    var dashboard: String?

    @OptionGroup var pages: PageOptions

    @Option(
        help: ArgumentHelp(
            "Where metrics are given out to Prometheus, for example 127.0.0.1:9477.", valueName: "addr"))
    var metrics: String?

    @Option(help: ArgumentHelp("The form of the log's lines: logfmt or json.", valueName: "format"))
    var logFormat: String?

    @Option(
        help: ArgumentHelp(
            "The least important that is logged: trace, debug, info, notice, warning, error or critical.",
            valueName: "level"))
    var logLevel: String?

    func validate() throws {
        if dashboard == nil, let option = pages.arguments.first {
            throw ValidationError("\(option) is for the pages: give --dashboard too.")
        }
        for (option, text) in [("--listen", listen), ("--dashboard", dashboard), ("--metrics", metrics)] {
            guard let text else { continue }
            do throws(StepFailure) {
                _ = try ListenAddress(parsing: text)
            } catch {
                throw ValidationError("\(option): \(error.title); \(error.hint ?? "")")
            }
        }
        try Self.check("--log-format", logFormat, among: LogFormat.allCases.map(\.rawValue))
        try Self.check("--log-level", logLevel, among: LogLevel.allCases.map(\.rawValue))
    }

    /// Checked here, where errors have hints, before another program begins.
    private static func check(_ option: String, _ given: String?, among names: [String]) throws {
        guard let given, !names.contains(given) else { return }
        throw ValidationError("\(option): '\(given)' is none of \(names.joined(separator: ", "))")
    }

    /// For the program that is the owner.
    ///
    /// - Parameter plugins: the folder that `--plugins` names.
    func arguments(_ settings: Settings, plugins: String?) -> [String] {
        var arguments = ["--state-dir", settings.stateFolder]
        if let file = settings.secretsFile { arguments += ["--secrets-file", file] }
        if let plugins {
            arguments += ["--plugins", AbsolutePath.of(plugins, in: AbsolutePath.workingDirectory)]
        }
        if let metrics { arguments += ["--metrics", metrics] }
        if let logFormat { arguments += ["--log-format", logFormat] }
        if let logLevel { arguments += ["--log-level", logLevel] }
        if let listen { arguments += ["--listen", listen] }
        if let dashboard { arguments += ["--dashboard", dashboard] + pages.arguments }
        return arguments
    }
}

extension BackgroundOwner {
    /// Has the program of the background owner take the place of this one.
    static func become(_ arguments: [String], _ settings: Settings) throws -> Never {
        let program = try program(path: settings.environment["PATH"])
        var pointers: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
        execv(program, &pointers)
        throw CommandError(.failed, "cannot run \(program): \(FileContent.reason)")
    }
}
