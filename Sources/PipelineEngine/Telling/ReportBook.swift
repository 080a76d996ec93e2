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
        /// When a step's words were news the last time.
        var told: [StepKey: Timestamp] = [:]
    }

    private let state = Mutex(State())

    /// So seldom the same call is news.
    private static let interval = Duration.seconds(5)

    /// Keeps what is said of a step's end now, in place of what was said before; true when it is news.
    func note(_ words: Estimate.Words, of step: StepKey, at time: Timestamp) -> Bool {
        state.withLock { state in
            state.last[step] = JobEstimate.Words(words, at: time)
            if let told = state.told[step], time - told < Self.interval { return false }
            state.told[step] = time
            return true
        }
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

    /// Takes one in again that was kept elsewhere.
    func keep(_ report: Report, of step: StepKey) { state.withLock { $0.first[step] = report } }

    func report(of step: StepKey) -> Report? { state.withLock { $0.first[step] } }
}
