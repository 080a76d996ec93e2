import PipelineCore
import PipelineKit

/// An error as a person reads it: what happened, where, and what to do next; and the status to exit with.
struct ErrorReport {
    let status: ExitStatus
    let lines: [String]

    /// - Parameter starts: whether the command would have started a job, had nothing been wrong.
    init(_ error: any Error, starts: Bool = true) {
        switch error {
        case let error as DefinitionError:
            let count = error.diagnostics.count
            let end = "\(count) mistake\(count == 1 ? "" : "s")"
            self.init(.invalid, [error.report, "", starts ? "\(end); nothing was started" : end])
        case let error as InputsError:
            self.init(.invalid, error.problems.flatMap(Self.lines) + ["nothing was started"])
        case let error as StepFailure: self.init(.invalid, Self.lines(of: error))
        case let error as JournalFailure: self.init(Self.status(of: error), Self.lines(of: error))
        case let error as CommandError: self.init(error.status, Self.lines(of: error.failure))
        default: self.init(.failed, ["error: \(error)"])
        }
    }

    private init(_ status: ExitStatus, _ lines: [String]) {
        self.status = status
        self.lines = lines
    }

    @discardableResult func show(on console: Console) -> ExitStatus {
        for line in lines { console.note(line) }
        return status
    }

    /// The lines of a failure: the sentence, the place, the request, the start of the answer, the hint.
    static func lines(of failure: StepFailure) -> [String] {
        var lines = ["error: \(failure.title)"]
        if let place = failure.place { lines.append("  at \(place)") }
        if let request = failure.request {
            let service = failure.service.map { " (service '\($0)')" } ?? ""
            lines.append("  request: \(request)\(service)")
        }
        if let body = failure.body, !body.isEmpty {
            lines.append(failure.request == nil ? "  log: \(body)" : "  answer: \(body)")
        }
        if let hint = failure.hint { lines.append("  hint: \(hint)") }
        return lines
    }

    /// Where going on later is all that is needed the job has not failed: a script may take it up again.
    private static func status(of failure: JournalFailure) -> ExitStatus {
        switch failure {
        case .stale, .owned, .busy, .full: .suspended
        case .conflict, .keyTaken, .noSuchJob, .notWritable, .damaged, .newer, .other: .failed
        }
    }

    private static func lines(of failure: JournalFailure) -> [String] {
        let (title, hint): (String, String) =
            switch failure {
            case .stale: ("another process has taken the job over", "'pipeline watch' shows who has it")
            case .owned(let owner):
                (
                    "the job is running in another process (\(owner.text))",
                    "'pipeline watch' shows it, 'pipeline cancel' or 'pipeline pause' reach it"
                )
            case .conflict(let step): ("the journal holds another state of '\(step)'", "run 'pipeline doctor'")
            case .keyTaken(let job): ("the key belongs to job \(job)", "choose another --key")
            case .noSuchJob(let job): ("there is no job \(job)", "'pipeline list' shows what there is")
            case .full(let folder):
                ("no space left where jobs are kept: \(folder)", "make room, then go on with 'pipeline resume'")
            case .notWritable(let folder, let reason):
                ("cannot write to \(folder): \(reason)", "name another folder with --state-dir or PIPELINE_STATE_DIR")
            case .damaged(let file, let reason):
                (
                    "the journal \(file) is damaged: \(reason)",
                    "nothing was changed; keep a copy, then move it aside to begin anew, or put back one that "
                        + "'pipeline doctor --backup' made"
                )
            case .newer(let file):
                (
                    "the journal \(file) was written by a newer version of pipeline",
                    "use that version, or another --state-dir"
                )
            case .busy: ("another process holds the journal", "try again in a moment")
            case .other(let text): ("the journal failed: \(text)", "run 'pipeline doctor'")
            }
        return ["error: \(title)", "  hint: \(hint)"]
    }
}

/// An error of a command, with the status to exit with.
struct CommandError: Error {
    let status: ExitStatus
    let failure: StepFailure

    init(_ status: ExitStatus, _ title: String, hint: String? = nil) {
        self.status = status
        failure = StepFailure(title, hint: hint)
    }

    init(_ status: ExitStatus, _ failure: StepFailure) {
        self.status = status
        self.failure = failure
    }
}
