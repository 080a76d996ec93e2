import PipelineCore
import Synchronization

/// What services said of the ends of their jobs: kept until the end is known, so that the next estimate knows how wrong
/// such words are. In memory only.
final class ReportBook: Sendable {
    /// The first words about a step.
    struct Report: Sendable {
        let time: Timestamp
        let secondsLeft: Double?
        let share: Double?
    }

    private struct State {
        var first: [StepKey: Report] = [:]
        var last: [StepKey: JobEstimate.Words] = [:]
    }

    private let state = Mutex(State())

    /// Keeps what is said of a step's end now, in place of what was said before.
    func note(_ words: Estimate.Words, of step: StepKey, at time: Timestamp) {
        state.withLock { $0.last[step] = JobEstimate.Words(words, at: time) }
    }

    /// What was said last of a step's end; nil when nothing was.
    func lastWords(of step: StepKey) -> JobEstimate.Words? { state.withLock { $0.last[step] } }

    func note(_ progress: StageProgress, of step: StepKey, at time: Timestamp) {
        guard case .remote(let share, let secondsLeft) = progress else { return }
        let isUseful = (secondsLeft ?? 0) > 0 || (share ?? 0) > 0.02
        guard isUseful else { return }
        state.withLock { state in
            guard state.first[step] == nil else { return }
            state.first[step] = Report(time: time, secondsLeft: secondsLeft, share: share)
        }
    }

    func report(of step: StepKey) -> Report? { state.withLock { $0.first[step] } }
}
