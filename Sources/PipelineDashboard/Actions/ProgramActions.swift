import PipelineCore
package import PipelineKit
import Subprocess
import SystemPackage

/// Does what a page asks for by the `pipeline` program, so that a button and a command are one thing.
package struct ProgramActions: JobActions {
    private let settings: Settings

    package init(settings: Settings) { self.settings = settings }

    /// The most batches that are begun at the same time.
    private static let groupSize = 16
    /// The ends of a command that is not done as things are: wrong inputs, an unknown submit, nothing to do, suspended.
    private static let refusals: Set<TerminationStatus> = [.exited(2), .exited(3), .exited(64), .exited(75)]

    package func perform(_ action: JobAction, on targets: JobActionTargets) async throws(ActionFailure) {
        var failures: [ActionFailure] = []
        // So many at a time that their names fit into a command.
        for start in stride(from: 0, to: targets.jobs.count, by: 200) {
            let names = targets.jobs[start..<min(targets.jobs.count, start + 200)].map(\.text)
            if let failure = await run(action, names) { failures.append(failure) }
        }
        // What keeps one batch from beginning keeps no other.
        for start in stride(from: 0, to: targets.batches.count, by: Self.groupSize) {
            let group = Array(targets.batches[start..<min(targets.batches.count, start + Self.groupSize)])
            failures += await begin(action, group)
        }
        guard let first = failures.first else { return }
        // The command's first word is of one of several.
        guard targets.jobs.count + targets.batches.count > 1 else { throw first }
        let failure = StepFailure("not all was done: \(first.failure.title)", hint: first.failure.hint)
        throw ActionFailure(failure, isRefusal: first.isRefusal)
    }

    /// Begins batches again, side by side; returns why those did not begin that did not.
    private func begin(_ action: JobAction, _ batches: [JobActionTargets.Batch]) async -> [ActionFailure] {
        await withTaskGroup(of: ActionFailure?.self) { group in
            for batch in batches { group.addTask { await run(action, batch.names.map(\.text)) } }
            var failures: [ActionFailure] = []
            for await failure in group {
                if let failure { failures.append(failure) }
            }
            return failures
        }
    }

    /// The words of the command that does the same.
    private func command(_ action: JobAction) -> [String] {
        switch action {
        case .retry, .resume: [action.rawValue, "--detach"]
        case .pause: ["pause"]
        case .cancel: ["cancel"]
        }
    }

    /// Runs the command for jobs; returns why it failed.
    private func run(_ action: JobAction, _ names: [String]) async -> ActionFailure? {
        var arguments = command(action) + names + ["--state-dir", settings.stateFolder]
        if let file = settings.secretsFile { arguments += ["--secrets-file", file] }
        let path = ProcessEnvironment.programPath.map { AbsolutePath.folder(of: $0) + "/pipeline" } ?? "pipeline"
        do {
            let end = try await Subprocess.run(
                .path(FilePath(path)), arguments: Arguments(arguments), output: .discarded,
                error: .string(limit: 64 << 10))
            if end.terminationStatus.isSuccess { return nil }
            let isRefusal = Self.refusals.contains(end.terminationStatus)
            return ActionFailure(failure(action, end.standardError), isRefusal: isRefusal)
        } catch {
            let failure = StepFailure("the program \(path) can't be run", hint: "it belongs beside pipeline-daemon")
            return ActionFailure(failure, isRefusal: false)
        }
    }

    private func failure(_ action: JobAction, _ said: String) -> StepFailure {
        let lines = said.split(separator: "\n").map(String.init)
        let hint = lines.first { $0.hasPrefix("  hint: ") }.map { String($0.dropFirst(8)) }
        // Of what is unknown the first command that resolves it, without what it means.
        let command = lines.lazy.compactMap { $0.firstMatch(of: /^ +(pipeline resolve( \S+)+)/) }.first
        return StepFailure(
            lines.first?.replacing("error: ", with: "") ?? "'pipeline \(action.rawValue)' failed",
            hint: hint ?? command.map { String($0.output.1) })
    }
}
