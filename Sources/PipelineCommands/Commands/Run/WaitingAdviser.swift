import PipelineCore
import PipelineKit
import Synchronization

/// Says, once each, what a person may not know of a job that waits: that it goes on trying, for how long, and that it is
/// held back since nobody attends it.
final class WaitingAdviser: Sendable {
    private struct Open {
        var deferral: Bool
        var noResponse = true
        /// Attempts in a row, from the first on, to which no response came.
        var silent = 0
        var hasResponse = false
    }

    private let open: Mutex<Open>
    private let plan: Plan

    init(_ options: JobSession.Options, _ plan: Plan) {
        open = Mutex(Open(deferral: options.mode == .attached && options.interactivity == .unattended))
        self.plan = plan
    }

    /// A line for the person; nil for all events but the first of a kind.
    func advice(on event: JobEvent) -> String? {
        switch event.kind {
        case .resumeDeferred:
            guard consume(\.deferral) else { return nil }
            return "note: no terminal is there, so that nobody attends the job and the document's 'background' holds; "
                + "with --attended it goes on at once, or with 'pipeline watch \(event.job)' on a terminal"
        case .attemptFailed: return unanswered(event)
        case .stageSucceeded, .estimateChanged:
            open.withLock { $0.hasResponse = true }
            return nil
        default: return nil
        }
    }

    /// Returns what to say of an attempt to which no response came: at first for how long it is tried, and when nothing
    /// has ever come what may be wrong.
    private func unanswered(_ event: JobEvent) -> String? {
        guard let error = event.data["error"], error["request"]?.string != nil else { return nil }
        guard error["status"]?.number == nil else {
            open.withLock { $0.hasResponse = true }
            return nil
        }
        let count = open.withLock { open in
            open.silent += 1
            return open.hasResponse ? 0 : open.silent
        }
        if count == 2, let hint = error["hint"]?.string { return "  hint: \(hint)" }
        guard let step = event.step, let note = WaitNote(of: step.stage, in: plan), consume(\.noResponse) else {
            return nil
        }
        return note.line
    }

    /// True for the first.
    private func consume(_ advice: WritableKeyPath<Open, Bool>) -> Bool {
        open.withLock { open in
            defer { open[keyPath: advice] = false }
            return open[keyPath: advice]
        }
    }
}
