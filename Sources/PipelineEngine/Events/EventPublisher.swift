import PipelineCore
import Synchronization

/// Publishes what was committed, once it was acted on: the last step of commit, act, publish.
///
/// An executor says which steps' changes ask for something to be done; their events, and all that were committed after
/// them, are deferred until it is: the call of the stage has begun, or the timer of the wait is armed. So events keep the
/// order of their numbers. What was committed and never acted on, because the job was stopped or lost, is published when
/// the executor ends: an event that is in the journal is told in any case.
final class EventPublisher: Sendable {
    private struct State {
        var events: [JobEvent] = []
        var deferred: Set<StepKey> = []
    }

    private let state = Mutex(State())
    private let observe: @Sendable (JobEvent) -> Void

    /// - Parameter observe: told of each event, one at a time; returns at once.
    init(observe: @escaping @Sendable (JobEvent) -> Void) { self.observe = observe }

    /// Defers the step's events until it was acted on. Before they are committed.
    func `defer`(_ step: StepKey) { state.withLock { _ = $0.deferred.insert(step) } }

    /// Publishes events that are on disk by now, as far as none of them is deferred.
    func publish(_ events: [JobEvent]) {
        if events.isEmpty { return }
        state.withLock { state in
            state.events += events
            publish(&state)
        }
    }

    /// Publishes what waited for this step: the work that its change asked for has begun. From any thread.
    func confirm(_ step: StepKey) {
        state.withLock { state in
            if state.deferred.remove(step) != nil { publish(&state) }
        }
    }

    /// All that was asked for has begun, but for the calls of the stages of these steps, which say so themselves.
    func confirm(allBut steps: some Collection<StepKey>) {
        state.withLock { state in
            if state.deferred.isEmpty { return }
            state.deferred.formIntersection(steps)
            publish(&state)
        }
    }

    /// Nothing is done any more.
    func close() {
        state.withLock { state in
            state.deferred = []
            publish(&state)
        }
    }

    /// Inside the lock, so that two threads can't publish out of order.
    private func publish(_ state: inout State) {
        let count = state.events.firstIndex { $0.step.map(state.deferred.contains) ?? false } ?? state.events.count
        for event in state.events.prefix(count) { observe(event) }
        state.events.removeFirst(count)
    }
}
