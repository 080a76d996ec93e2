import Dispatch
import PipelineCore
import PipelineKit
import Synchronization

/// The live view of a batch on a terminal, redrawn in place: a bar for the batch and for each stage, the items at work as room
/// allows, the last failures.
final class BatchLiveView: Sendable {
    private struct State {
        var model: BatchLiveModel
        var drawn: [StyledText] = []
        var width = 0
        var isFinished = false
        /// Lines that are to stand above the picture: of data, and for people.
        var above: [(text: String, isData: Bool)] = []
    }

    private let state: Mutex<State>
    private let console: Console
    private let clock: any WallClock
    /// Only made, started and cancelled, never changed.
    nonisolated(unsafe) private let timer: any DispatchSourceTimer

    /// - Parameter clock: the clock by which the batch runs.
    init(console: Console, key: String, stages: [String], batch: BatchRecord, clock: any WallClock) {
        self.console = console
        self.clock = clock
        state = Mutex(State(model: BatchLiveModel(key: key, stages: stages, batch: batch, started: clock.now)))
        timer = DispatchSource.makeTimerSource(queue: .global())
        timer.schedule(deadline: .now(), repeating: .milliseconds(200), leeway: .milliseconds(50))
        timer.setEventHandler { [weak self] in self?.draw() }
        timer.activate()
    }

    func show(_ event: JobEvent) { state.withLock { $0.model.apply(event) } }
    func take(_ news: BatchNews) { state.withLock { $0.model.apply(news) } }
    /// Writes a line of data above the picture.
    func data(_ line: String) { state.withLock { $0.above.append((line, true)) } }
    /// Writes a line for people above the picture.
    func note(_ line: String) { state.withLock { $0.above.append((line, false)) } }

    func finish() {
        timer.cancel()
        draw()
        state.withLock { state in
            guard !state.isFinished else { return }
            state.isFinished = true
            console.raw(LiveView.erasing(state.drawn, console.size))
        }
    }

    private func draw() {
        state.withLock { state in
            guard !state.isFinished else { return }
            let size = console.size
            let rows = state.model.rows(width: size.columns, height: size.rows - 1, now: clock.now)
            guard rows != state.drawn || size.columns != state.width || !state.above.isEmpty else { return }
            console.raw(LiveView.erasing(state.drawn, size))
            for line in state.above {
                if line.isData { console.data(line.text) } else { console.note(line.text) }
            }
            state.above = []
            console.raw(rows.map { console.rendered($0) + "\n" }.joined())
            state.drawn = rows
            state.width = size.columns
        }
    }
}
