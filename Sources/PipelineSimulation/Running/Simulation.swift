package import PipelineCore
import Synchronization

/// One thread and one virtual time for everything of a simulated run, in an order that a seed chooses.
///
/// Tasks started with a ``SimulatedLane`` as their executor run here, with their child tasks and the default actors
/// that they call (SE-0417). At each step the seed chooses one of the jobs that can run or a timer that is due; when
/// nothing can run, time jumps to the next timer. Nothing waits, so that a day costs microseconds.
package final class Simulation: Sendable {
    /// The way in which a run of the loop came to its end.
    package enum Ending: Sendable, Hashable {
        /// The thing that was waited for is there.
        case done
        /// Nothing can run, no timer is set, and it is not there: a lost wake-up or a deadlock.
        case stuck
        /// More steps than allowed.
        case endless
    }

    private struct State {
        var ready: [(job: UnownedJob, lane: SimulatedLane)] = []
        var timers = TimerQueue()
        var now: Timestamp
        var steps = 0
        var strays = 0
        var digest: UInt64 = 0xCBF2_9CE4_8422_2325
        var trace: [String] = []
    }

    /// All that is random in the run comes from here.
    package let randomness: SeededRandomness
    private let state: Mutex<State>
    private let thread = ThreadName.current
    private let keepsTrace: Bool

    /// A simulation that belongs to the thread that makes it. Writing a trace changes no choice, so that a seed that
    /// failed without one is run again with it.
    package init(
        seed: UInt64, start: Timestamp = Timestamp(milliseconds: 1_790_000_000_000), keepsTrace: Bool = false
    ) {
        randomness = SeededRandomness(seed: seed)
        self.keepsTrace = keepsTrace
        state = Mutex(State(now: start))
    }

    package var now: Timestamp { state.withLock { $0.now } }
    /// The number of jobs and timers that have run.
    package var steps: Int { state.withLock { $0.steps } }
    /// The number of times that something of the run was seen on another thread: then the seed does not fix the order.
    package var strays: Int { state.withLock { $0.strays } }
    /// A number made of every choice so far: equal for equal runs.
    package var digest: UInt64 { state.withLock { $0.digest } }

    /// The events, one line each, when a trace is kept.
    package var trace: [String] { state.withLock { $0.trace } }

    /// Adds a line to the trace.
    package func note(_ line: @autoclosure () -> String) {
        guard keepsTrace else { return }
        let text = line()
        state.withLock { $0.trace.append("\($0.now) \(text)") }
    }

    /// Notes when the caller is not on the simulation's thread.
    package func checkThread() {
        guard ThreadName.current != thread else { return }
        state.withLock { $0.strays += 1 }
    }

    /// Has something happen after a time; the number cancels it.
    @discardableResult
    package func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> Int {
        schedule(at: now + delay, action)
    }

    /// Has something happen at a moment, at once when it is past; the number cancels it.
    @discardableResult
    package func schedule(at time: Timestamp, _ action: @escaping @Sendable () -> Void) -> Int {
        state.withLock { $0.timers.schedule(at: max(time, $0.now), action) }
    }

    package func cancel(_ timer: Int) { state.withLock { $0.timers.cancel(timer) } }

    func enqueue(_ jobs: [UnownedJob], of lane: SimulatedLane) {
        checkThread()
        state.withLock { state in state.ready += jobs.map { ($0, lane) } }
    }

    func takeReady(of lane: SimulatedLane) -> [UnownedJob] {
        state.withLock { state in
            let taken = state.ready.filter { $0.lane === lane }.map(\.job)
            state.ready.removeAll { $0.lane === lane }
            return taken
        }
    }

    /// Runs jobs and timers until what is waited for is there. On the thread that made the simulation. While time
    /// `standsStill`, as for something that works in real time, it is stuck rather than to jump to the next timer.
    package func run(
        stepLimit: Int = 100_000, until isDone: () -> Bool, standsStill: () -> Bool = { false }
    ) -> Ending {
        let last = steps + stepLimit
        while !isDone() {
            switch next(standsStill) {
            case .job(let job, let lane): job.runSynchronously(on: lane.asUnownedTaskExecutor())
            case .timer(let action): action()
            case nil: return .stuck
            }
            if steps >= last { return .endless }
        }
        return .done
    }

    /// Ends the simulation: what can run does so without time going on, what is scheduled is forgotten. Without this
    /// timers keep alive whatever they belong to.
    package func end() {
        state.withLock { $0.timers = TimerQueue() }
        _ = run { false }
        state.withLock { $0.timers = TimerQueue() }
    }

    private enum Step {
        case job(UnownedJob, SimulatedLane)
        case timer(@Sendable () -> Void)
    }

    private func next(_ standsStill: () -> Bool) -> Step? {
        state.withLock { state in
            let due = state.timers.nextTime()
            if state.ready.isEmpty {
                guard let due, due <= state.now || !standsStill() else { return nil }
                state.now = max(state.now, due)
            }
            let isDue = due.map { $0 <= state.now } ?? false
            let choices = state.ready.count + (isDue ? 1 : 0)
            let choice = choices == 1 ? 0 : randomness.number(in: 0...choices - 1)
            state.steps += 1
            state.digest = (state.digest ^ UInt64(choices << 8 | choice)) &* 0x100_0000_01B3
            if choice == state.ready.count { return state.timers.takeNext().map { .timer($0) } }
            state.ready.swapAt(choice, state.ready.count - 1)
            let taken = state.ready.removeLast()
            return .job(taken.job, taken.lane)
        }
    }
}
