import JSONPath
import PipelineCore

/// Shows a job's events as they come; called from many threads, one event at a time per step.
protocol EventView: Sendable {
    func show(_ event: JobEvent)
    /// Shows how the steps of a job that goes on stood before.
    func seed(_ job: JobSnapshot)
    /// Says how many items a stage has.
    func expect(_ count: Int, itemsOf stage: String)
    /// Shows a line for the person at the terminal, next to what is shown of the job.
    func note(_ line: StyledText)
    /// The job has come to its end: what is left on the screen stays.
    func finish()
}

/// Events as JSON Lines on standard output.
struct JSONLinesView: EventView {
    let console: Console

    func show(_ event: JobEvent) { console.data(event.json.text) }
    func seed(_ job: JobSnapshot) {}
    func expect(_ count: Int, itemsOf stage: String) {}
    func note(_ line: StyledText) { console.note(line) }
    func finish() {}
}
