import ArgumentParser
import Assertions
import CLibrary
import PipelineCore
public import PipelineKit
import Synchronization

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
            console.exit(status, hint: "what was done is kept; 'pipeline show' and 'pipeline logs' tell of it again")
        } catch {
            let console = Console(environment: ProcessEnvironment.all, color: .auto)
            if let report = UsageReport(error, arguments: Array(CommandLine.arguments.dropFirst())) {
                for line in report.lines { console.note(line) }
                exit(ExitStatus.usage.rawValue)
            }
            guard RootCommand.exitCode(for: error).isSuccess else { RootCommand.exit(withError: error) }
            // Libraries are asked for their versions only when somebody wants to know: it opens them.
            let isVersion = RootCommand.message(for: error) == ProgramVersion.program
            let page = isVersion ? ProgramVersion.text : RootCommand.fullMessage(for: error)
            if !page.isEmpty { console.data(page) }
            console.exit(.succeeded)
        }
    }

    private static func status(
        of command: any WorkspaceCommand, console: Console, extend: @escaping @Sendable (inout Extensions) -> Void
    ) async -> ExitStatus {
        if let lack = OpenFileLimit.raise() {
            console.note("error: \(lack.message)")
            console.note("  hint: \(lack.hint)")
            return .failed
        }
        do {
            guard AbsolutePath.isWorkingDirectoryText else {
                throw CommandError(
                    .invalid, "the path of the working directory is no text in UTF-8, and jobs keep it as text",
                    hint: "rename the folder, or change to another one")
            }
            let settings = try Settings(
                stateFolder: command.common.stateDir, secretsFile: command.common.secretsFile,
                plugins: command.common.plugins, profile: command.common.profile,
                completing: ProcessEnvironment.all)
            Assertions.use(AssertionFiles(settings: settings))
            let workspace = Workspace(settings: settings, extend: extend)
            workspace.observeOutages { console.note(OutageNote($0).line) }
            // Told at the end: a live view is above it then.
            let problems = Mutex<[String]>([])
            workspace.observeTraces { problem in
                problems.withLock { problems in
                    guard !problems.contains(problem) else { return }
                    problems.append(problem)
                }
            }
            func finish() async {
                if workspace.awaitsToken { console.note("waits for the answer to a refresh token that was sent") }
                await workspace.finish()
                for problem in problems.withLock({ $0 }) { console.note("warning: \(problem)") }
            }
            do {
                let status = try await command.run(in: workspace, console: console)
                await finish()
                return status
            } catch {
                await finish()
                throw error
            }
        } catch {
            return ErrorReport(error).show(on: console)
        }
    }
}
