import CLibrary
import PipelineCore
import PipelineKit
import Synchronization

/// The terminal or the pipes that a command talks to: data on standard output, everything else on standard error.
struct Console: Sendable {
    /// True if a person reads standard error as it comes.
    let isTerminal: Bool
    /// True if one of the three standard streams is a terminal: then a person is there who waits.
    let hasTerminal: Bool
    /// True if a person reads standard output as it comes.
    let showsData: Bool
    private let colors: (data: Bool, notes: Bool)
    /// The record of what went wrong with standard output.
    private let loss = OutputLoss()

    init(environment: [String: String], color: ColorChoice) {
        func isReadable(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 && environment["TERM"] != "dumb" }
        let isWanted = environment["NO_COLOR"].map(\.isEmpty) ?? true
        func usesColor(_ isTerminal: Bool) -> Bool { color == .always || color == .auto && isTerminal && isWanted }
        isTerminal = isReadable(STDERR_FILENO)
        showsData = isReadable(STDOUT_FILENO)
        hasTerminal = [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO].contains { isatty($0) == 1 }
        colors = (usesColor(showsData), usesColor(isTerminal))
    }

    /// The answer to whether a person waits for what a command does, as far as the terminal tells.
    var interactivity: Interactivity { Interactivity(hasTerminal: hasTerminal, isAsserted: false) }

    /// The columns of the terminal that standard output is; nil for a pipe or a file.
    var dataColumns: Int? { showsData ? Self.size(of: STDOUT_FILENO).columns : nil }

    /// The columns of a page that a person reads, perhaps through a pager: those of the terminal, at most a hundred.
    var pageWidth: Int { min(100, dataColumns ?? (isTerminal ? size.columns : 100)) }

    /// The terminal that standard error is, 80 by 24 where it does not say.
    var size: (columns: Int, rows: Int) { Self.size(of: STDERR_FILENO) }

    private static func size(of descriptor: Int32) -> (columns: Int, rows: Int) {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return (80, 24) }
        return (Int(size.ws_col), max(2, Int(size.ws_row)))
    }

    /// Writes a line of data; that it can't be written is told by ``exit(_:hint:)``.
    func data(_ line: String) {
        if !Self.write(line + "\n", to: STDOUT_FILENO), errno != EPIPE { loss.note(FileContent.reason) }
    }

    /// Writes a line of data that a person reads.
    func data(_ line: StyledText) { data(line.rendered(inColor: colors.data)) }

    /// Ends the program with the status. Where data did not reach standard output it says so, and the status is no
    /// success; that a reader has left on its own is no failure.
    ///
    /// - Parameter hint: what the person can do then.
    func exit(_ status: ExitStatus, hint: String = "make room, or have it written elsewhere") -> Never {
        guard let reason = loss.reason else { CLibrary.exit(status.rawValue) }
        note("error: cannot write to standard output: \(reason)")
        note("  hint: \(hint)")
        CLibrary.exit(max(status, .failed).rawValue)
    }

    /// Writes a line for the person; control characters are made visible.
    func note(_ line: StyledText) { _ = Self.write(line.rendered(inColor: colors.notes) + "\n", to: STDERR_FILENO) }

    /// Writes lines for the person; `error:` and `hint:` at its begin have their colours.
    func note(_ message: String) {
        for line in message.split(separator: "\n", omittingEmptySubsequences: false) {
            note(StyledText(message: String(line)))
        }
    }

    /// Writes lines of our own making as they are.
    func raw(_ text: String) { _ = Self.write(text, to: STDERR_FILENO) }

    /// A line for standard error as ``raw(_:)`` takes it.
    func rendered(_ text: StyledText) -> String { text.rendered(inColor: colors.notes) }

    private static func write(_ text: String, to descriptor: Int32) -> Bool {
        if FileContent.write(Array(text.utf8), to: descriptor) { return true }
        if errno == EPIPE { StopSignals.readerLeft() }
        return false
    }
}

/// The first failure of an output.
private final class OutputLoss: Sendable {
    private let first = Mutex<String?>(nil)

    var reason: String? { first.withLock { $0 } }
    func note(_ reason: String) { first.withLock { $0 = $0 ?? reason } }
}
