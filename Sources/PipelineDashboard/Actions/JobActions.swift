package import PipelineCore
package import PipelineKit
import Subprocess
import SystemPackage

/// What may be done to jobs from a page.
package enum JobAction: String, Sendable, CaseIterable {
    case retry, resume, pause, cancel

    /// The words of the command that does the same.
    var command: [String] {
        switch self {
        // A failed job that is named goes on with fresh attempts.
        case .retry, .resume: ["resume", "--detach"]
        case .pause: ["pause"]
        case .cancel: ["cancel"]
        }
    }
}

enum JobActionLimit {
    /// At most so many jobs at a time.
    static let jobs = 1000

    static func isLetter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: false
        }
    }
}

/// Whoever does what a page asks for.
package protocol JobActions: Sendable {
    func perform(_ action: JobAction, on jobs: [JobID]) async throws(StepFailure)
}

/// Does it by the `pipeline` program, so that a button and a command are one thing.
package struct ProgramActions: JobActions {
    private let settings: Settings

    package init(settings: Settings) { self.settings = settings }

    package func perform(_ action: JobAction, on jobs: [JobID]) async throws(StepFailure) {
        let program = ProcessEnvironment.programPath.map { AbsolutePath.folder(of: $0) + "/pipeline" } ?? "pipeline"
        // So many at a time that their names fit into a command.
        for start in stride(from: 0, to: jobs.count, by: 200) {
            let names = jobs[start..<min(jobs.count, start + 200)].map(\.text)
            var arguments = action.command + ["--state-dir", settings.stateFolder]
            if let file = settings.secretsFile { arguments += ["--secrets-file", file] }
            let outcome: (Bool, String)
            do {
                let result = try await run(
                    .path(FilePath(program)), arguments: Arguments(arguments + names), output: .discarded,
                    error: .string(limit: 64 << 10))
                outcome = (result.terminationStatus.isSuccess, result.standardError)
            } catch {
                throw StepFailure("the program \(program) can't be run", hint: "it belongs beside pipeline-daemon")
            }
            // Of several jobs some may have ended meanwhile: only if there is one does its word count.
            if !outcome.0, jobs.count == 1 {
                let lines = outcome.1.split(separator: "\n").map(String.init)
                throw StepFailure(
                    lines.first?.replacing("error: ", with: "") ?? "'pipeline \(action.rawValue)' failed",
                    hint: lines.dropFirst().first?.replacing("  hint: ", with: ""))
            }
        }
    }
}
