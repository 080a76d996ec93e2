package import PipelineCore
import Synchronization

/// One run of the program: its ports live until it is killed, and from then on do nothing at all.
///
/// Swift can't drop a task in the middle. A killed process therefore unwinds: whatever it asks of a port fails and
/// has no effect, so that nothing of what it still computes can be seen from outside. Its answers are lost.
package final class SimulatedProcess: CrashProbe {
    private struct State {
        var isDead = false
        var passes = 0
        var planned: (pass: Int, action: @Sendable () -> Void)?
        var lastHandler = 0
        var handlers: [(id: Int, handler: @Sendable () -> Void)] = []
    }

    package let simulation: Simulation
    package let owner: OwnerID
    package let lane: SimulatedLane
    package let clock: VirtualClock
    private let state = Mutex(State())

    package init(_ simulation: Simulation, name: String) {
        self.simulation = simulation
        owner = OwnerID(name)
        lane = SimulatedLane(simulation)
        clock = VirtualClock(simulation)
    }

    package var isDead: Bool { state.withLock { $0.isDead } }

    /// Has something happen to the process (its death, a stop) soon after the given number of points from now: at
    /// once, or at an await that the seed chooses.
    package func after(passes count: Int, _ action: @escaping @Sendable () -> Void) {
        state.withLock { $0.planned = ($0.passes + count, action) }
    }

    /// Ends the process as SIGKILL does: from now on it has no effect on anything.
    package func kill() {
        let handlers = state.withLock { state in
            defer { state.handlers = [] }
            if state.isDead { return [(id: Int, handler: @Sendable () -> Void)]() }
            state.isDead = true
            return state.handlers
        }
        for entry in handlers { entry.handler() }
    }

    /// The process has ended by itself: nothing more happens at its death.
    package func exit() {
        state.withLock { state in
            state.isDead = true
            state.handlers = []
            state.planned = nil
        }
    }

    /// Has something happen at the death; at once when it was before. The number takes it back.
    @discardableResult
    package func onDeath(_ handler: @escaping @Sendable () -> Void) -> Int {
        let id: Int? = state.withLock { state in
            if state.isDead { return nil }
            state.lastHandler += 1
            state.handlers.append((state.lastHandler, handler))
            return state.lastHandler
        }
        if id == nil { handler() }
        return id ?? 0
    }

    package func forget(_ id: Int) { state.withLock { state in state.handlers.removeAll { $0.id == id } } }

    package func pass(_ point: CrashPoint) { pass() }

    /// Counts a call of a port that a test has written.
    package func passPort() { pass() }

    /// Counts a point at which something may be planned.
    func pass() {
        simulation.checkThread()
        let action: (@Sendable () -> Void)? = state.withLock { state in
            state.passes += 1
            guard let planned = state.planned, planned.pass <= state.passes else { return nil }
            state.planned = nil
            return planned.action
        }
        guard let action else { return }
        if simulation.randomness.chance(0.5) { action() } else { simulation.schedule(after: .zero, action) }
    }
}
