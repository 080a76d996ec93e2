/// A place in a source text as people and editors name it; both numbers begin at 1.
public struct SourcePosition: Sendable, Hashable, Comparable {
    /// Counts line ends: LF, CR LF or CR.
    public let line: Int
    /// Counts Unicode scalars (a tab is one).
    public let column: Int

    /// A position in a text; both numbers begin at 1.
    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    public static func < (left: SourcePosition, right: SourcePosition) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}
