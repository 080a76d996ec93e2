/// What a plugin's program did that it must not: the conversation ends there.
public struct PluginFault: Error, Sendable, Hashable {
    /// The kinds of fault; what they mean for another try is said by ``ProgramEnd``.
    public enum Kind: Sendable, Hashable {
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
    }

    public let kind: Kind
    /// What happened, as the end of a sentence that begins with the plugin's name.
    public let message: String
    public let hint: String?

    public init(_ kind: Kind, _ message: String, hint: String? = nil) {
        self.kind = kind
        self.message = message
        self.hint = hint
    }
}
