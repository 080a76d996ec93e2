import JSONPath
import PipelineCore

/// Shows a job's events as they come; called from many threads, one event at a time per step.
protocol EventView: Sendable {
    func show(_ event: JobEvent)
    /// Shows a line for the person at the terminal, beside what is shown of the job.
    func note(_ line: String)
    /// The job has come to its end: what is left on the screen stays.
    func finish()
}

/// Events as JSON Lines on standard output.
struct JSONLinesView: EventView {
    let console: Console

    func show(_ event: JobEvent) { console.data(event.json.text) }
    func note(_ line: String) { console.note(line) }
    func finish() {}
}

/// One line for each change of state, for pipes, logs and screen readers.
struct PlainView: EventView {
    let console: Console

    func show(_ event: JobEvent) {
        guard let line = EventLine(event).text else { return }
        console.note(line)
    }
    func note(_ line: String) { console.note(line) }
    func finish() {}
}
