import Dispatch
import Glibc
import PipelineCore
import PipelineKit
import Synchronization

/// The live view of a job on a terminal: a line for each step, redrawn in place at most ten times a second.
final class LiveView: EventView {
    private struct State {
        var model: LiveModel
        var turn = 0
        /// The last picture; the cursor stands below it.
        var drawn: [LiveFrame.Row] = []
        /// The window's columns when it was drawn.
        var width = 0
        var isFinished = false
        /// Lines that are to stand above the picture.
        var notes: [String] = []
    }

    private let state: Mutex<State>
    private let console: Console
    private let clock = SystemClock()
    /// Only made, started and cancelled, never changed.
    nonisolated(unsafe) private let timer: any DispatchSourceTimer

    init(console: Console, stages: [String]) {
        self.console = console
        state = Mutex(State(model: LiveModel(stages: stages)))
        timer = DispatchSource.makeTimerSource(queue: .global())
        timer.schedule(deadline: .now(), repeating: .milliseconds(100), leeway: .milliseconds(20))
        timer.setEventHandler { [weak self] in self?.draw() }
        timer.activate()
    }

    func show(_ event: JobEvent) { state.withLock { $0.model.apply(event) } }

    func note(_ line: String) { state.withLock { $0.notes.append(line) } }

    func finish() {
        timer.cancel()
        draw()
        state.withLock { $0.isFinished = true }
    }

    private func draw() {
        state.withLock { state in
            guard !state.isFinished else { return }
            let size = Self.terminalSize()
            let frame = LiveFrame(
                model: state.model, now: clock.now, turn: state.turn, width: size.columns, height: size.rows - 1,
                style: { [console] in console.styled($0, $1) })
            let rows = frame.rows
            state.turn += 1
            guard rows != state.drawn || size.columns != state.width || !state.notes.isEmpty else { return }
            // A window that has become narrower breaks rows in two, one that has become lower holds fewer of them.
            let taken = state.drawn.reduce(0) { $0 + max(1, ($1.columns + size.columns - 1) / size.columns) }
            let up = min(taken, size.rows - 1)
            var text = up > 0 ? "\u{1B}[\(up)A\r\u{1B}[J" : "\r"
            for line in state.notes + rows.map(\.text) { text += "\(line)\n" }
            state.notes = []
            console.raw(text)
            state.drawn = rows
            state.width = size.columns
        }
    }

    private static func terminalSize() -> (columns: Int, rows: Int) {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return (80, 24) }
        return (Int(size.ws_col), max(2, Int(size.ws_row)))
    }
}
