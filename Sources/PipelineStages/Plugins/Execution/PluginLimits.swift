/// The amounts that a plugin may take: beyond it the program is ended and its step fails.
package struct PluginLimits: Sendable, Hashable {
    /// For the answer to `describe`.
    package var describing: Duration
    /// For `cancel`, all of it.
    package var cancelling: Duration
    /// For a decorator's or a sink's answer.
    package var answering: Duration
    /// For the program to take one message from us off its standard input.
    package var writing: Duration
    /// Between the end of the conversation, or SIGTERM, and the next harsher step; the last is SIGKILL.
    package var grace: Duration
    /// Bytes of one line.
    package var line: Int
    /// Bytes of standard output in one call, and of standard error.
    package var output: Int
    /// Bytes of the answer to `describe`.
    package var description: Int

    package init(
        describing: Duration = .seconds(10), cancelling: Duration = .seconds(60),
        answering: Duration = .seconds(30), writing: Duration = .seconds(30),
        grace: Duration = .seconds(5), line: Int = 1 << 20, output: Int = 256 << 20, description: Int = 1 << 20
    ) {
        self.describing = describing
        self.cancelling = cancelling
        self.answering = answering
        self.writing = writing
        self.grace = grace
        self.line = line
        self.output = output
        self.description = description
    }
}
