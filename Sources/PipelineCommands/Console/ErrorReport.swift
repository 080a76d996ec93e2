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
        case .stale, .owned, .busy, .full, .away, .moved: .suspended
        case .conflict, .keyTaken, .noSuchJob, .refused, .notWritable, .damaged, .newer, .other: .failed
        }
    }

    private static func lines(of failure: JournalFailure) -> [String] {
        var title = failure.description
        let hint: String
        switch failure {
        case .stale: hint = "'pipeline watch' shows who has it"
        case .owned: hint = "'pipeline watch' shows it, 'pipeline cancel' or 'pipeline pause' reach it"
        case .conflict: hint = "run 'pipeline doctor'"
        case .keyTaken: hint = "choose another --key"
        case .noSuchJob: hint = "'pipeline list' shows what there is"
        case .away:
            hint =
                "what it has is not lost, and workers go on by themselves once it is back; see that it runs and can be "
                + "reached from here, then type the command again (a 'run' only where 'pipeline list' does not show its job), "
                + "or 'pipeline resume' where a job was stopped"
        case .refused(let place, let reason, let mending):
            title = "the database \(place) can't be used: \(reason)"
            hint = mending
        case .full: hint = "make room, then go on with 'pipeline resume'"
        case .notWritable: hint = "name another folder with --state-dir or PIPELINE_STATE_DIR"
        case .moved:
            hint =
                "nothing more was begun; put it back, then go on with 'pipeline resume'. If it is gone, see at the "
                + "services what there is before you run it again"
        case .damaged:
            hint =
                "nothing was changed; keep a copy, then move it aside to begin anew, or put back one that "
                + "'pipeline doctor --backup' made"
        case .newer(let place):
            hint = place.hasPrefix("/") ? "use that version, or another --state-dir" : "use that version here too"
        case .busy: hint = "try again in a moment"
        case .other(let text):
            title = "the journal failed: \(text)"
            hint = "run 'pipeline doctor'"
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
