/// A stretch of a source text, as offsets of UTF-8 bytes: `start` inclusive, `end` exclusive.
public struct SourceRange: Sendable, Hashable {
    /// The first byte.
    public let start: Int
    /// The byte after the last; the same as ``start`` when something is missing at a place.
    public let end: Int

    /// The bytes from `start` up to `end`, which is not one of them.
    public init(start: Int, end: Int) {
        self.start = start
        self.end = end
    }
}
