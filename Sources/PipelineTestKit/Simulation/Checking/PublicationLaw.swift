package import PipelineCore
import Synchronization

/// The law of publishing a job's events, seen from outside of one owner: an event is told after it is on disk and after
/// what it tells of has begun, once, in the order of the numbers, and none is left out.
package final class PublicationLaw: Sendable {
    private struct State {
        var last: Int?
        /// The number of times that the stage of a step was called, and how often that was told.
        var calls: [StepKey: Int] = [:]
        var starts: [StepKey: Int] = [:]
        var told = 0
        /// The stages that are repeated: they do nothing themselves, and those that follow others' items have none at first.
        var repeated: Set<String> = []
        var violations: [String] = []
    }

    private let recorder: JournalRecorder
    private let owner: OwnerID
    private let state = Mutex(State())

    package init(_ recorder: JournalRecorder, of owner: OwnerID) {
        self.recorder = recorder
        self.owner = owner
    }

    package var violations: [String] { state.withLock { $0.violations } }

    /// Tells it which stages are never called themselves.
    package func note(_ plan: Plan) {
        let repeated = (plan.stages + plan.finally).filter { $0.forEach != nil }.map(\.id)
        state.withLock { $0.repeated.formUnion(repeated) }
    }

    /// A stage is called.
    package func call(_ facts: StageFacts) { state.withLock { $0.calls[facts.step, default: 0] += 1 } }

    /// An event is told.
    package func tell(_ event: JobEvent) {
        guard let number = event.sequence else { return }
        let job = recorder.job(event.job)
        state.withLock { state in
            let name = "event \(number) (\(event.kind.rawValue))"
            if number > job?.sequence ?? 0 { state.violations.append("\(name) was told of before it was on disk") }
            if let last = state.last, number <= last { state.violations.append("\(name) was told of after \(last)") }
            state.last = number
            state.told += 1
            guard let key = event.step, [.stageStarted, .stageResumed].contains(event.kind) else { return }
            state.starts[key, default: 0] += 1
            // A step that was overdue when its wait ended has failed without a call; one with items is never called.
            if key.item == nil, state.repeated.contains(key.stage) { return }
            guard let step = job?.steps[key]?.state, step.name == .running,
                job?.steps.keys.contains(where: { $0.stage == key.stage && $0.item != nil }) == false || key.item != nil
            else { return }
            if state.calls[key] ?? 0 < state.starts[key] ?? 0 {
                state.violations.append("\(name) was told of before its stage was called")
            }
        }
    }

    /// The owner has ended by itself: all that it committed has been told.
    package func end() {
        let committed = recorder.eventCount(of: owner)
        state.withLock { state in
            if state.told != committed {
                state.violations.append("\(owner.text) told of \(state.told) events and committed \(committed)")
            }
        }
    }
}
