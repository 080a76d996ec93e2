/// A thing that a plugin's program did and must not do: the conversation ends there.
package struct PluginFault: Error, Sendable, Hashable {
    /// The kinds of fault; what they mean for another try is said by ``ProgramEnd``.
    package enum Kind: Sendable, Hashable {
        /// Its standard output ended before the conversation did.
        case ended
        /// It did not take our message: its standard input is closed, or it does not read.
        case deaf
        /// It took longer than it may.
        case overdue
        /// Too much output, or too long a line.
        case flood
        /// Something that is no message of the protocol, or a message at the wrong time.
        case nonsense
        /// The program could not be started.
        case notStarted
        /// The machine could not start it now: descriptors, memory or processes have run out for a while.
        case notNow
    }

    package let kind: Kind
    package let hint: String?
    private let what: String
    /// The line that it printed, whole: whoever shows it can first take secrets out of it.
    private let line: String?

    init(_ kind: Kind, _ message: String, of line: String? = nil, hint: String? = nil) {
        self.kind = kind
        self.hint = hint
        self.line = line
        what = message
    }

    /// The fault in words, as the end of a sentence that begins with the plugin's name, with the start of what it
    /// printed.
    package var message: String { message { $0 } }

    /// Returns the same without secrets, which are taken out before the line is cut to `limit` bytes: what is left of
    /// one that was cut could no longer be told from other text.
    func message(limit: Int = 80, redact: (String) -> String) -> String {
        guard let line else { return redact(what) }
        let shown = redact(line)
        let start = String(decoding: shown.utf8.prefix(limit), as: UTF8.self)
        return "\(redact(what)): \(start)\(shown.utf8.count > limit ? "…" : "")"
    }
}
