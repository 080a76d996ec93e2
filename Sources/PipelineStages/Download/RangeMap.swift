/// Which bytes of a file are on the disk when it comes in several streams: what lies behind the prefix, cut in pieces,
/// each received from its start on.
struct RangeMap: Codable, Sendable, Equatable {
    /// A stretch of the file that one stream receives.
    struct Piece: Codable, Sendable, Equatable {
        let start: Int64
        /// Behind its last byte.
        let end: Int64
        /// How many bytes from its start are on the disk.
        var done: Int64 = 0
        /// The SHA-256 of these in hex: it tells whether they are still ours.
        var digest: String?

        /// Where its next byte goes.
        var position: Int64 { start + done }
        var isWhole: Bool { position >= end }
    }

    private static let smallest: Int64 = 1 << 20
    private static let usual: Int64 = 8 << 20
    /// The map stands in each checkpoint: of a huge file the pieces are larger instead of more.
    private static let mostPieces: Int64 = 256

    var pieces: [Piece]

    /// Cuts the stretch so that all streams have work.
    init(from start: Int64, to end: Int64, streams: Int) {
        let length = end - start
        let fair = min(max(length / Int64(max(1, streams)), Self.smallest), Self.usual)
        let size = max(fair, length / Self.mostPieces + 1)
        pieces = stride(from: start, to: end, by: Int64.Stride(size)).map { Piece(start: $0, end: min($0 + size, end)) }
    }

    /// How many bytes of the pieces are there.
    var covered: Int64 { pieces.reduce(0) { $0 + $1.done } }
    var isWhole: Bool { pieces.allSatisfy(\.isWhole) }
}
