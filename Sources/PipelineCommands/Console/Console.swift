import Glibc
import PipelineCore
import PipelineKit
import Synchronization

/// The terminal or the pipes that a command talks to: data on standard output, everything else on standard error.
struct Console: Sendable {
    /// Whether a person reads standard error as it comes.
    let isTerminal: Bool
    let usesColor: Bool
    /// Whether one of the three standard streams is a terminal: then a person is there who waits.
    let hasTerminal: Bool
    /// What went wrong with standard output.
    private let loss = OutputLoss()

    init(environment: [String: String], color: ColorChoice) {
        isTerminal = isatty(STDERR_FILENO) == 1 && environment["TERM"] != "dumb"
        hasTerminal = [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO].contains { isatty($0) == 1 }
        let isWanted = isTerminal && environment["NO_COLOR"].map(\.isEmpty) ?? true
        usesColor = color == .always || color == .auto && isWanted
    }

    /// Whether a person waits for what a command does, as far as the terminal tells.
    var attendance: Interactivity { Interactivity(hasTerminal: hasTerminal, isAsserted: false) }

    /// Writes a line of data; what can't be written is told by ``lostOutput``.
    func data(_ line: String) {
        if !Self.write(line + "\n", to: STDOUT_FILENO), errno != EPIPE { loss.note(FileContent.reason) }
    }

    /// Why data did not reach standard output; nil when all of it did, or nobody reads it any more.
    var lostOutput: String? { loss.reason }

    /// Writes a line for the person; control characters are made visible.
    func note(_ line: String) { _ = Self.write(SafeText.line(line) + "\n", to: STDERR_FILENO) }

    /// Writes lines of our own making as they are.
    func raw(_ text: String) { _ = Self.write(text, to: STDERR_FILENO) }

    /// The text in the style, where colours are used.
    func styled(_ text: String, _ style: Style) -> String {
        usesColor ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
    }

    enum Style: Int { case bold = 1, dim = 2, red = 31, green = 32, yellow = 33, cyan = 36 }

    /// All of a text, whatever a pipe takes at a time; false with `errno` set when that can't be.
    private static func write(_ text: String, to descriptor: Int32) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 {
                if errno == EINTR { continue }
                return false
            }
            rest = rest.dropFirst(count)
        }
        return true
    }
}

/// The first failure of an output.
private final class OutputLoss: Sendable {
    private let first = Mutex<String?>(nil)

    var reason: String? { first.withLock { $0 } }
    func note(_ reason: String) { first.withLock { $0 = $0 ?? reason } }
}

/// Text from elsewhere, made harmless for a terminal.
enum SafeText {
    /// The text with control characters, bidirectional overrides included, replaced by visible escapes.
    static func line(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isHarmful) else { return text }
        var safe = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if isHarmful(scalar) {
                safe.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars)
            } else {
                safe.append(scalar)
            }
        }
        return String(safe)
    }

    private static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0A, 0x09: false
        case 0..<0x20, 0x7F..<0xA0, 0x61C, 0x200E...0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
