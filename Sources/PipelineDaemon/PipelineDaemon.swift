import ArgumentParser
import CLibrary
public import PipelineKit

/// The background owner's program: with ``main(extend:)`` an executable of one's own runs detached jobs that use stages
/// of one's own.
///
/// `NAME run --detach` starts the program `NAME-daemon` where there is one, else `pipeline-daemon`; so give it that name,
/// and the same extensions as `PipelineCommands.main(extend:)`.
public enum PipelineDaemon {
    /// Runs until it is told to stop, and exits. `extend` adds kinds of stage, decorators and notification sinks.
    public static func main(extend: @escaping @Sendable (inout Extensions) -> Void = { _ in }) async -> Never {
        ProcessMemory.share()
        if let lack = OpenFileLimit.raise() {
            let text = "error: \(lack.message)\n  hint: \(lack.hint)\n"
            _ = text.withCString { write(STDERR_FILENO, $0, text.utf8.count) }
            exit(1)
        }
        let arguments = Array(CommandLine.arguments.dropFirst())
        // Parsed by itself: the owner has options of the same names, and would take them.
        if arguments.first == DashboardCommand.configuration.commandName {
            await DashboardCommand.main(Array(arguments.dropFirst()))
            exit(0)
        }
        do {
            switch try DaemonCommand.parseAsRoot(arguments) {
            case let daemon as DaemonCommand: try await daemon.run(extend: extend)
            case var other: try other.run()
            }
            exit(0)
        } catch {
            DaemonCommand.exit(withError: error)
        }
    }
}
