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

    private let reports = Mutex<[StepKey: Report]>([:])

    func note(_ progress: StageProgress, of step: StepKey, at time: Timestamp) {
        guard case .remote(let share, let secondsLeft) = progress else { return }
        let isUseful = (secondsLeft ?? 0) > 0 || (share ?? 0) > 0.02
        guard isUseful else { return }
        reports.withLock { reports in
            guard reports[step] == nil else { return }
            reports[step] = Report(time: time, secondsLeft: secondsLeft, share: share)
        }
    }

    /// Takes one in again that was kept elsewhere.
    func keep(_ report: Report, of step: StepKey) { reports.withLock { $0[step] = report } }

    func report(of step: StepKey) -> Report? { reports.withLock { $0[step] } }
}
