import Dispatch
import PipelineCore
import PipelineKit
import Synchronization

/// A picture of a model on a terminal, redrawn in place a few times a second where it has changed.
final class LivePicture<Model: Sendable>: Sendable {
    /// A line that is to stand above the picture.
    enum Line: Sendable {
        case data(String)
        /// For people.
        case note(StyledText)
    }

    /// Returns the rows of a model in a window of that size.
    typealias Drawing = @Sendable (inout Model, _ columns: Int, _ rows: Int) -> [StyledText]

    private struct State {
        var model: Model
        /// The last picture; the cursor stands below it.
        var drawn: [StyledText] = []
        /// The window's columns when it was drawn.
        var width = 0
        var isFinished = false
        var above: [Line]
    }

    private let state: Mutex<State>
    private let console: Console
    private let drawing: Drawing
    /// Only made, started and cancelled, never changed.
    nonisolated(unsafe) private let timer: any DispatchSourceTimer

    /// - Parameters:
    ///   - period: the time between two looks, in milliseconds.
    ///   - above: the lines that stand above from the first picture on.
    init(of model: Model, on console: Console, every period: Int, above: [Line] = [], drawing: @escaping Drawing) {
        self.console = console
        self.drawing = drawing
        state = Mutex(State(model: model, above: above))
        timer = DispatchSource.makeTimerSource(queue: .global())
        timer.schedule(deadline: .now(), repeating: .milliseconds(period), leeway: .milliseconds(period / 5))
        timer.setEventHandler { [weak self] in self?.draw() }
        timer.activate()
    }

    func update(_ change: (inout Model) -> Void) { state.withLock { change(&$0.model) } }

    /// Writes a line above the picture.
    func write(_ line: Line) { state.withLock { $0.above.append(line) } }

    /// Draws it a last time. It stays where it is, or goes where it `vanishes`.
    func finish(vanishes: Bool = false) {
        timer.cancel()
        draw()
        state.withLock { state in
            guard !state.isFinished else { return }
            state.isFinished = true
            if vanishes { console.raw(Self.erasing(state.drawn, console.size)) }
        }
    }

    private func draw() {
        state.withLock { state in
            guard !state.isFinished else { return }
            let size = console.size
            let rows = drawing(&state.model, size.columns, size.rows - 1)
            guard rows != state.drawn || size.columns != state.width || !state.above.isEmpty else { return }
            var text = Self.erasing(state.drawn, size)
            for line in state.above {
                switch line {
                case .note(let line): text += "\(console.rendered(line))\n"
                case .data(let line):
                    console.raw(text)
                    text = ""
                    console.data(line)
                }
            }
            state.above = []
            for row in rows { text += "\(console.rendered(row))\n" }
            console.raw(text)
            state.drawn = rows
            state.width = size.columns
        }
    }

    /// Goes up over what was drawn, a line of the window at a time, and empties each: a window that has become narrower
    /// breaks rows, one that has become lower holds fewer of them.
    private static func erasing(_ rows: [StyledText], _ size: (columns: Int, rows: Int)) -> String {
        let lines = rows.reduce(0) { $0 + max(1, ($1.columns + size.columns - 1) / size.columns) }
        return String(repeating: "\u{1B}[1A\u{1B}[2K", count: min(lines, size.rows - 1)) + "\r"
    }
}
