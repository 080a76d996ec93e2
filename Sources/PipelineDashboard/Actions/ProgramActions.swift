import CLibrary
package import PipelineCore
package import PipelineKit
import Subprocess
import SystemPackage

/// Does what a page asks for by the `pipeline` program, so that a button and a command are one thing.
package struct ProgramActions: JobActions {
    private let settings: Settings

    package init(settings: Settings) { self.settings = settings }

    /// The time that a batch's process is watched for an error before it is said to have begun.
    private static let watch = Duration.seconds(2)

    /// The most batches that are begun at the same time.
    private static let groupSize = 16

    package func perform(_ action: JobAction, on targets: JobActionTargets) async throws(StepFailure) {
        var failures: [StepFailure] = []
        // So many at a time that their names fit into a command.
        for start in stride(from: 0, to: targets.jobs.count, by: 200) {
            let names = targets.jobs[start..<min(targets.jobs.count, start + 200)].map(\.text)
            let end = await end(of: program(command(action) + names), output: nil)
            // Of several jobs some may have ended meanwhile: only if there is one does its word count.
            if case .failed(let said) = end, targets.jobs.count == 1 { failures.append(failure(action, said)) }
        }
        // What keeps one batch from beginning keeps no other.
        for start in stride(from: 0, to: targets.batches.count, by: Self.groupSize) {
            let group = Array(targets.batches[start..<min(targets.batches.count, start + Self.groupSize)])
            failures += await begin(action, group)
        }
        guard let first = failures.first else { return }
        let hasBegun = failures.count < targets.jobs.count + targets.batches.count
        throw hasBegun ? StepFailure("not all was begun: \(first.title)", hint: first.hint) : first
    }

    /// Begins batches again, side by side; returns why those did not begin that did not.
    private func begin(_ action: JobAction, _ batches: [JobActionTargets.Batch]) async -> [StepFailure] {
        await withTaskGroup(of: StepFailure?.self) { group in
            for batch in batches { group.addTask { await begin(action, batch) } }
            var failures: [StepFailure] = []
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

    private struct Program: Sendable {
        let path: String
        let arguments: [String]
    }

    private func program(_ words: [String]) -> Program {
        var arguments = words + ["--state-dir", settings.stateFolder]
        if let file = settings.secretsFile { arguments += ["--secrets-file", file] }
        let own = ProcessEnvironment.programPath.map { AbsolutePath.folder(of: $0) + "/pipeline" }
        return Program(path: own ?? "pipeline", arguments: arguments)
    }

    private enum End: Sendable {
        case succeeded
        case failed(String)
    }

    /// The end of the program; of one that writes to a file nothing is known but that it failed.
    private func end(of program: Program, output: FileDescriptor?) async -> End {
        var options = PlatformOptions()
        // It outlives this process, and is stopped by no signal that is meant for it.
        options.createSession = output != nil
        do {
            if let output {
                let result = try await run(
                    .path(FilePath(program.path)), arguments: Arguments(program.arguments), platformOptions: options,
                    output: .discarded, error: .fileDescriptor(output, closeAfterSpawningProcess: true))
                return result.terminationStatus.isSuccess ? .succeeded : .failed("")
            }
            let result = try await run(
                .path(FilePath(program.path)), arguments: Arguments(program.arguments), output: .discarded,
                error: .string(limit: 64 << 10))
            return result.terminationStatus.isSuccess ? .succeeded : .failed(result.standardError)
        } catch {
            return .failed("error: the program \(program.path) can't be run\n  hint: it belongs beside pipeline-daemon")
        }
    }

    /// Begins a batch again in a process of its own, which goes on when these pages are gone; returns why it did not
    /// begin.
    private func begin(_ action: JobAction, _ batch: JobActionTargets.Batch) async -> StepFailure? {
        let log = "\(settings.stateFolder)/batch-\(batch.id.text).log"
        let descriptor = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return StepFailure("cannot write \(log): \(FileContent.reason)") }
        let program = program([action.rawValue] + batch.names.map(\.text))
        let (ends, continuation) = AsyncStream.makeStream(of: End.self)
        // Not structured: a batch takes hours, and the person who pressed the button is not kept waiting for its end.
        Task {
            let end = await end(of: program, output: FileDescriptor(rawValue: descriptor))
            if case .succeeded = end { unlink(log) }
            continuation.yield(end)
            continuation.finish()
        }
        let timer = Task {
            try? await Task.sleep(for: Self.watch)
            continuation.finish()
        }
        defer { timer.cancel() }
        for await end in ends {
            guard case .failed(let said) = end else { return nil }
            // A batch of which items failed again has begun all the same.
            let words = said.isEmpty ? FileContent.text(log) ?? "" : said
            if words.hasPrefix("error: ") { return failure(action, words) }
        }
        return nil
    }

    private func failure(_ action: JobAction, _ said: String) -> StepFailure {
        let lines = said.split(separator: "\n").map(String.init)
        return StepFailure(
            lines.first?.replacing("error: ", with: "") ?? "'pipeline \(action.rawValue)' failed",
            hint: lines.dropFirst().first?.replacing("  hint: ", with: ""))
    }
}
