/// Which bytes of a file are on the disk when it comes in several streams: what lies behind the prefix, in pieces one
/// behind the other, each received from its start on.
///
/// Pieces are cut while the streams run, so that each stream has work for as long as it is worth to have it.
struct RangeMap: Codable, Sendable, Equatable {
    /// A stretch of the file that one stream receives.
    struct Piece: Codable, Sendable, Equatable {
        /// Tells it from the others: it never changes.
        let start: Int64
        /// Behind its last byte. It comes nearer when another stream takes over what lies behind.
        var end: Int64
        /// The number of bytes from its start that are on the disk.
        var done: Int64 = 0
        /// The SHA-256 of these in hex: it tells whether they are still ours.
        var digest: String?

        /// The place where its next byte goes.
        var position: Int64 { start + done }
        var isWhole: Bool { position >= end }
        /// The number of bytes that are missing.
        var rest: Int64 { end - position }
    }

    /// The number of bytes that are worth a request of its own, and more than is written at a time: what lies that far
    /// behind a stream's position is not on its way to the disk.
    static let smallest: Int64 = 512 << 10
    /// The number of bytes that may come a second time so that a request is spared at the end of the file.
    private static let mostGivenBack: Int64 = 2 << 20
    /// The map stands in each checkpoint.
    private static let mostPieces = 256

    var pieces: [Piece]

    init(pieces: [Piece]) { self.pieces = pieces }

    /// One piece.
    init(from start: Int64, to end: Int64) { pieces = [Piece(start: start, end: end)] }

    /// The number of bytes of the pieces that are there.
    var covered: Int64 { pieces.reduce(0) { $0 + $1.done } }

    /// The place of a piece; nil when it is no longer in the map.
    func index(of start: Int64) -> Int? { pieces.firstIndex { $0.start == start } }

    /// Work for one more stream: the first piece that nobody receives, or what that is too long for cut off at its
    /// front; when there is none, the end of the piece of which most is missing. Nil when more streams have no use.
    ///
    /// - Parameters:
    ///   - length: what one stream should receive at a time; nil for as much as there is.
    ///   - running: the starts of those that are being received.
    mutating func next(_ length: Int64?, besides running: Set<Int64>, streams: Int) -> Piece? {
        if let index = pieces.firstIndex(where: { !$0.isWhole && !running.contains($0.start) }) {
            let fair = free(besides: running) / Int64(max(1, streams))
            if let length { cut(index, after: max(Self.smallest, min(length, fair)), besides: running) }
            return pieces[index]
        }
        guard let longest = pieces.indices.max(by: { pieces[$0].rest < pieces[$1].rest }) else { return nil }
        let piece = pieces[longest]
        let half = piece.rest / 2
        guard half >= Self.smallest, pieces.count < Self.mostPieces else { return nil }
        let taken = min(half, max(Self.smallest, length ?? half))
        cut(longest, after: piece.rest - taken, besides: running)
        return pieces[longest + 1]
    }

    /// Leaves to running streams what they receive soon, so that others can take the rest from its front.
    mutating func shorten(_ running: Set<Int64>, to length: Int64) {
        for start in running {
            if let index = index(of: start) { cut(index, after: max(Self.smallest, length), besides: running) }
        }
    }

    /// Gives a piece of which most is missing back to the one before it, whose stream then receives it whole; how many
    /// bytes come once more by that, or nil when it stays: what has much is worth a connection of its own.
    mutating func giveBack(_ start: Int64, besides running: Set<Int64>) -> Int64? {
        guard let index = index(of: start), index > 0 else { return nil }
        let (piece, before) = (pieces[index], pieces[index - 1])
        guard piece.done < min(piece.rest, Self.mostGivenBack), !before.isWhole, running.contains(before.start) else {
            return nil
        }
        pieces[index - 1].end = piece.end
        pieces.remove(at: index)
        return piece.done
    }

    /// Up to where the file has no gap.
    func front(from prefix: Int64) -> Int64 { pieces.prefix { $0.isWhole }.last?.end ?? prefix }

    /// Takes whole pieces off the front that nobody receives any more, up to a place; gives where the prefix then ends.
    mutating func absorb(from prefix: Int64, to limit: Int64, besides running: Set<Int64>) -> Int64 {
        var end = prefix
        while let first = pieces.first, first.end <= limit, first.isWhole, !running.contains(first.start) {
            end = first.end
            pieces.removeFirst()
        }
        return end
    }

    /// Returns what lies behind a place up to which all is there; a piece that reaches beyond it begins again there.
    func behind(_ place: Int64) -> [Piece] {
        pieces.filter { $0.end > place }.map { $0.start < place ? Piece(start: place, end: $0.end) : $0 }
    }

    /// Cuts the piece in two in which a place lies that nobody has come to.
    mutating func split(at place: Int64) {
        guard let index = pieces.firstIndex(where: { $0.position < place && place < $0.end }) else { return }
        let end = pieces[index].end
        pieces[index].end = place
        pieces.insert(Piece(start: place, end: end), at: index + 1)
    }

    private func free(besides running: Set<Int64>) -> Int64 {
        pieces.reduce(0) { $0 + (running.contains($1.start) ? 0 : $1.rest) }
    }

    /// Cuts a piece behind so many missing bytes, unless what is left of it would be too small. A stream that gave its piece
    /// back and has not ended must not meet another one that begins there.
    private mutating func cut(_ index: Int, after missing: Int64, besides running: Set<Int64>) {
        let piece = pieces[index]
        guard piece.rest >= missing + Self.smallest, pieces.count < Self.mostPieces else { return }
        var place = piece.position + missing
        while running.contains(place) { place -= 1 }
        pieces[index].end = place
        pieces.insert(Piece(start: place, end: piece.end), at: index + 1)
    }
}
