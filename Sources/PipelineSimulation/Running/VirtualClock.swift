package import PipelineCore
import Synchronization

/// The wall clock of a simulation: it jumps from one thing that happens to the next.
///
/// `skew` moves what a process reads, as an administrator or a bad battery does; who sleeps is woken when as long has
/// passed as was left when he began, or when the clock is set to his time.
package final class VirtualClock: WallClock {
    private let simulation: Simulation
    private let skew = Mutex(Duration.zero)
    private let sleeping = Mutex<[Int: (time: Timestamp, sleeper: Sleeper)]>([:])
    private let numbers = Mutex(0)

    package init(_ simulation: Simulation) { self.simulation = simulation }

    package var now: Timestamp { simulation.now + skew.withLock { $0 } }

    package var elapsed: Duration { simulation.now - .epoch }

    /// Sets the clock.
    package func shift(by duration: Duration) {
        skew.withLock { $0 += duration }
        let now = now
        let due = sleeping.withLock { sleeping in
            sleeping.filter { $0.value.time <= now }.sorted { $0.key < $1.key }.map(\.value.sleeper)
        }
        for sleeper in due { if let timer = sleeper.wake() { simulation.cancel(timer) } }
    }

    /// The number of tasks that wait for a time at this moment.
    package var sleepers: Int { sleeping.withLock { $0.count } }

    package func sleep(until time: Timestamp) async throws(CancellationError) {
        simulation.checkThread()
        let shift = skew.withLock { $0 }
        let sleeper = Sleeper()
        let number = numbers.withLock { number in
            number += 1
            return number
        }
        sleeping.withLock { $0[number] = (time, sleeper) }
        defer { sleeping.withLock { $0[number] = nil } }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard sleeper.begin(continuation) else { return continuation.resume() }
                sleeper.keep(simulation.schedule(at: time - shift) { sleeper.wake() })
            }
        } onCancel: {
            if let timer = sleeper.wake() { simulation.cancel(timer) }
        }
        if Task.isCancelled { throw CancellationError() }
    }
}

/// One who sleeps: woken once, by the time or by a cancellation.
private final class Sleeper: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Void, Never>?
        var timer: Int?
        var isAwake = false
    }

    private let state = Mutex(State())

    /// False when it was woken before it began.
    func begin(_ continuation: CheckedContinuation<Void, Never>) -> Bool {
        state.withLock { state in
            if state.isAwake { return false }
            state.continuation = continuation
            return true
        }
    }

    func keep(_ timer: Int) { state.withLock { $0.timer = timer } }

    /// The timer that is no longer needed.
    @discardableResult func wake() -> Int? {
        let (continuation, timer) = state.withLock { state in
            state.isAwake = true
            return (state.continuation.take(), state.timer.take())
        }
        continuation?.resume()
        return timer
    }
}
