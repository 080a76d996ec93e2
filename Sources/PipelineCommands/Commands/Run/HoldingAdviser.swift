import PipelineCore
import Synchronization

/// Says, once, why a job is held back that a command stays with and that nobody attends: who reads a log may not know.
final class HoldingAdviser: Sendable {
    private let mayAdvise: Mutex<Bool>

    init(_ options: JobSession.Options) {
        mayAdvise = Mutex(options.mode == .attached && options.attendance == .unattended)
    }

    /// A line for the person; nil for all events but the first that holds the job back.
    func advice(on event: JobEvent) -> String? {
        guard event.kind == .resumeDeferred,
            mayAdvise.withLock({ mayAdvise in
                defer { mayAdvise = false }
                return mayAdvise
            })
        else { return nil }
        return "note: no terminal is there, so that nobody attends the job and the document's 'background' holds; "
            + "with --attended it goes on at once, or with 'pipeline watch \(event.job)' on a terminal"
    }
}
