/// The end of a program, and the text that it wrote.
package struct ProgramEnd: Sendable, CustomStringConvertible {
    /// The reason why a program is over.
    package enum Cause: Sendable, Hashable {
        case exited(Int32)
        /// It died of a signal.
        case killed(Int32)
        /// It was killed because its time was over.
        case overdue
    }

    package var cause: Cause
    /// All of its standard output.
    package var output: String
    /// All of its standard error.
    package var errors: String

    /// The lines of its standard output.
    package var lines: [String] { output.split(separator: "\n").map(String.init) }

    /// All that a failed expectation wants to show.
    package var description: String {
        "\(cause)\n--- standard output\n\(output)\n--- standard error\n\(errors)"
    }
}
