import Synchronization

/// The executor of the tasks of one simulated process: on the simulation's thread, unless the process is stopped.
package final class SimulatedLane: TaskExecutor {
    package let simulation: Simulation
    private let held = Mutex<[UnownedJob]?>(nil)

    package init(_ simulation: Simulation) { self.simulation = simulation }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isHeld = held.withLock { held in
            held?.append(job)
            return held != nil
        }
        if !isHeld { simulation.enqueue([job], of: self) }
    }

    /// Stops everything here as SIGSTOP does: answers and timers still arrive and wait.
    package func freeze() {
        let ready = simulation.takeReady(of: self)
        held.withLock { $0 = ($0 ?? []) + ready }
    }

    package var isFrozen: Bool { held.withLock { $0 != nil } }

    /// Goes on as after SIGCONT.
    package func thaw() {
        let jobs = held.withLock { $0.take() } ?? []
        simulation.enqueue(jobs, of: self)
    }

    /// Starts a task here; `isEnded` tells when it has ended.
    @discardableResult
    package func start(_ work: @escaping @Sendable () async -> Void) -> LaneTask {
        let ended = LaneTask()
        ended.keep(
            Task.detached(executorPreference: self) {
                await work()
                ended.end()
            })
        return ended
    }
}

/// A task on a lane, to be waited for from outside of any task.
package final class LaneTask: Sendable {
    private struct State {
        var task: Task<Void, Never>?
        var isEnded = false
    }

    private let state = Mutex(State())

    package var isEnded: Bool { state.withLock { $0.isEnded } }
    package func cancel() { state.withLock { $0.task }?.cancel() }

    func keep(_ task: Task<Void, Never>) { state.withLock { if !$0.isEnded { $0.task = task } } }

    func end() {
        state.withLock { state in
            state.isEnded = true
            state.task = nil
        }
    }
}
