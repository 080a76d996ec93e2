import Glibc

/// The terminal or the pipes that a command talks to: data on standard output, everything else on standard error.
struct Console: Sendable {
    /// Whether a person reads standard error as it comes.
    let isTerminal: Bool
    let usesColor: Bool

    init(environment: [String: String], color: ColorChoice) {
        isTerminal = isatty(STDERR_FILENO) == 1 && environment["TERM"] != "dumb"
        let isWanted = isTerminal && environment["NO_COLOR"].map(\.isEmpty) ?? true
        usesColor = color == .always || color == .auto && isWanted
    }

    /// Writes a line of data.
    func data(_ line: String) { Self.write(line + "\n", to: STDOUT_FILENO) }

    /// Writes a line for the person; control characters are made visible.
    func note(_ line: String) { Self.write(SafeText.line(line) + "\n", to: STDERR_FILENO) }

    /// Writes lines of our own making as they are.
    func raw(_ text: String) { Self.write(text, to: STDERR_FILENO) }

    /// The text in the style, where colours are used.
    func styled(_ text: String, _ style: Style) -> String {
        usesColor ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
    }

    enum Style: Int { case bold = 1, dim = 2, red = 31, green = 32, yellow = 33, cyan = 36 }

    /// All of a text, whatever a pipe takes at a time; a reader that has gone is no error of ours.
    private static func write(_ text: String, to descriptor: Int32) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 {
                if errno == EINTR { continue }
                return
            }
            rest = rest.dropFirst(count)
        }
    }
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
        case 0..<0x20, 0x7F..<0xA0, 0x200E...0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
