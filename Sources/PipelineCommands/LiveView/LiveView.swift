import Dispatch
import PipelineCore
import PipelineKit
import Synchronization

/// The live view of a job on a terminal: a line for each step, redrawn in place at most ten times a second.
final class LiveView: EventView {
    private struct State {
        var model: LiveModel
        var turn = 0
        /// The last picture; the cursor stands below it.
        var drawn: [StyledText] = []
        /// The window's columns when it was drawn.
        var width = 0
        var isFinished = false
        /// Lines that are to stand above the picture.
        var notes: [StyledText] = []
    }

    private let state: Mutex<State>
    private let console: Console
    private let clock: any WallClock
    /// Only made, started and cancelled, never changed.
    nonisolated(unsafe) private let timer: any DispatchSourceTimer

    /// - Parameters:
    ///   - title: a line that stands above from the first picture on.
    ///   - clock: the clock by which the job runs.
    init(console: Console, stages: [String], below title: StyledText? = nil, clock: any WallClock) {
        self.console = console
        self.clock = clock
        state = Mutex(State(model: LiveModel(stages: stages), notes: [title].compactMap(\.self)))
        timer = DispatchSource.makeTimerSource(queue: .global())
        timer.schedule(deadline: .now(), repeating: .milliseconds(100), leeway: .milliseconds(20))
        timer.setEventHandler { [weak self] in self?.draw() }
        timer.activate()
    }

    func show(_ event: JobEvent) { state.withLock { $0.model.apply(event) } }

    func seed(_ job: JobSnapshot) { state.withLock { $0.model.seed(job) } }

    func expect(_ count: Int, itemsOf stage: String) { state.withLock { $0.model.expect(count, of: stage) } }

    func note(_ line: StyledText) { state.withLock { $0.notes.append(line) } }

    func finish() {
        timer.cancel()
        draw()
        state.withLock { $0.isFinished = true }
    }

    private func draw() {
        state.withLock { state in
            guard !state.isFinished else { return }
            let size = console.size
            let frame = LiveFrame(
                model: state.model, now: clock.now, turn: state.turn, width: size.columns, height: size.rows - 1)
            let rows = frame.rows
            state.turn += 1
            guard rows != state.drawn || size.columns != state.width || !state.notes.isEmpty else { return }
            var text = Self.erasing(state.drawn, size)
            for line in state.notes + rows { text += "\(console.rendered(line))\n" }
            state.notes = []
            console.raw(text)
            state.drawn = rows
            state.width = size.columns
        }
    }

    /// Goes up over what was drawn, a line of the window at a time, and empties each: a window that has become narrower
    /// breaks rows, one that has become lower holds fewer of them.
    static func erasing(_ rows: [StyledText], _ size: (columns: Int, rows: Int)) -> String {
        let lines = rows.reduce(0) { $0 + max(1, ($1.columns + size.columns - 1) / size.columns) }
        return String(repeating: "\u{1B}[1A\u{1B}[2K", count: min(lines, size.rows - 1)) + "\r"
    }
}
