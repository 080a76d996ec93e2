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
        /// How many lines the last picture has; the cursor stands below them.
        var drawn = 0
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
                model: state.model, now: clock.now, turn: state.turn, width: size.columns,
                style: { [console] in console.styled($0, $1) })
            // More lines than the window has can't be redrawn in place: the last ones are shown.
            let lines = frame.lines.suffix(max(1, size.rows - 1))
            var text = state.drawn > 0 ? "\u{1B}[\(state.drawn)A" : ""
            for note in state.notes { text += "\r\u{1B}[2K\(note)\n" }
            state.notes = []
            for line in lines { text += "\r\u{1B}[2K\(line)\n" }
            if lines.count < state.drawn { text += "\u{1B}[J" }
            console.raw(text)
            state.drawn = lines.count
            state.turn += 1
        }
    }

    private static func terminalSize() -> (columns: Int, rows: Int) {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return (80, 24) }
        return (Int(size.ws_col), max(2, Int(size.ws_row)))
    }
}
