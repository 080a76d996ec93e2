/// A stretch of a source text, as offsets of UTF-8 bytes: `start` inclusive, `end` exclusive.
public struct SourceRange: Sendable, Hashable {
    public let start: Int
    public let end: Int

    public init(start: Int, end: Int) {
        self.start = start
        self.end = end
    }
}
