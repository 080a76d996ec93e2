import Dispatch
import PipelineKit
import Synchronization

/// The stop of a command that runs jobs: tells a person whose Ctrl-C does not take hold at once what is waited for.
final class SlowStop: Sendable {
    private let isOver = Atomic<Bool>(false)
    private let note: @Sendable (String) -> Void

    init(note: @escaping @Sendable (String) -> Void) { self.note = note }

    /// The signals, of which the first calls `stop`.
    func signals(_ stop: @escaping @Sendable () -> Void) -> StopSignals {
        StopSignals(leaving: "left at once; go on with: pipeline resume") { [self] in
            stop()
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(700)) { [self] in
                if isOver.load(ordering: .relaxed) { return }
                note("stopping; a service's response is waited for, 3 s at most (a second Ctrl-C leaves at once)")
            }
        }
    }

    func end() { isOver.store(true, ordering: .relaxed) }
}
