import CLibrary
import PipelineCore
import Subprocess
import SystemPackage

/// A program that is started for one notification and has to end soon; never through a shell.
struct ShortProgram: Sendable {
    /// With a slash a path, else looked up in the PATH.
    let program: String
    let arguments: [String]
    let environment: [String: String]
    let folder: String?
    var limit = Duration.seconds(30)

    /// Runs it until it has ended well; the failure is one sentence with the last of what it said.
    ///
    /// Cancelling the task ends the program with all that it started: first by SIGTERM, then by SIGKILL.
    func run(input: [UInt8]) async throws(NotificationFailure) {
        // A program that does not read what it is given must not end us.
        signal(SIGPIPE, SIG_IGN)
        let outcome = await withTaskGroup(of: Outcome.self) { group in
            group.addTask { await start(input) }
            group.addTask { [limit] in
                do { try await Task.sleep(for: limit) } catch { return .cancelled }
                return .overdue
            }
            let first = await group.next() ?? .cancelled
            group.cancelAll()
            return first
        }
        switch outcome {
        case .ended(.exited(0), _): return
        case .ended(.exited(let status), let said): throw failure("ended with status \(status)", said)
        case .ended(.signaled(let signal), let said): throw failure("was ended by signal \(signal)", said)
        case .notStarted(let reason):
            throw NotificationFailure(
                "\(program) can't be started: \(reason)",
                hint: "a name is looked up in the PATH of the process that drives the job", isRetryable: false)
        case .overdue: throw failure("did not end within \(limit.components.seconds) s", "")
        case .cancelled: throw failure("was stopped", "")
        }
    }

    private enum Outcome: Sendable {
        case ended(TerminationStatus, String)
        case notStarted(String)
        case overdue
        case cancelled
    }

    private func failure(_ what: String, _ said: String) -> NotificationFailure {
        let last = said.split(separator: "\n").last.map { ": \($0.prefix(300))" } ?? ""
        return NotificationFailure("\(program) \(what)\(last)", isRetryable: true)
    }

    private func start(_ input: [UInt8]) async -> Outcome {
        do {
            let result = try await Subprocess.run(
                configuration, input: .inputWriter, output: .discarded, error: .string(limit: 1 << 20)
            ) { execution in
                // Whether it reads is its own affair: how it ends counts.
                _ = try? await execution.standardInputWriter.write(input)
                try? await execution.standardInputWriter.finish()
            }
            return .ended(result.terminationStatus, result.standardError)
        } catch {
            return Task.isCancelled ? .cancelled : .notStarted("\(error)")
        }
    }

    private var configuration: Subprocess.Configuration {
        var options = PlatformOptions()
        options.processGroupID = 0
        options.teardownSequence = [
            .send(signal: .terminate, toProcessGroup: true, allowedDurationToNextStep: .seconds(1))
        ]
        let variables = environment.compactMap { name, value in
            Environment.Key(rawValue: name).map { ($0, value) }
        }
        return Subprocess.Configuration(
            executable: program.contains("/") ? .path(FilePath(program)) : .name(program),
            arguments: Arguments(arguments), environment: .custom(Dictionary(variables) { first, _ in first }),
            workingDirectory: folder.map { FilePath($0) }, platformOptions: options)
    }
}
