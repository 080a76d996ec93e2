import PipelineCore
import Synchronization

/// The progress of the streams of one download, with the digests of what they receive running; told on the transport's
/// thread.
///
/// Bytes that follow on the file's beginning go into the digests of the whole as they come. All others go into one of
/// their own piece, by which they are known again after a crash, and are read from the file once they follow: a download
/// that needs but one stream pays for one digest, and several streams save more time than a second one costs.
final class RangeProgress: Sendable {
    /// The digests of the file's beginning.
    struct Front: Sendable {
        /// The length of the beginning in bytes.
        var position: Int64
        var digests: RunningDigests
    }

    /// The consequence of a piece of the body.
    struct Taken: Sendable {
        /// The number of bytes of the file that are there.
        let covered: Int64
        /// True if that is worth a notice to observers.
        let isWorthTelling: Bool
        /// The note that is worth writing with the file.
        var note: PartNote?
    }

    /// A consistent view: all digests are those of exactly the bytes counted.
    struct Snapshot: Sendable {
        var map: RangeMap
        let front: Front
        /// The number of bytes of the file that are there.
        let covered: Int64
    }

    private struct State: Sendable {
        var map: RangeMap
        var front: Front
        /// The start of the piece that the front goes along with.
        var leading: Int64?
        var hashers: [Int64: RunningDigests]
        /// Up to where there are notes, by the start of what they are about.
        var noted: [Int64: Int64] = [:]
        var running: Set<Int64> = []
        var covered: Int64
        var told: Int64

        /// The place from which on the digest runs that took the bytes in.
        mutating func digest(_ bytes: UnsafeRawBufferPointer, of piece: RangeMap.Piece) -> Int64 {
            guard piece.position == front.position, piece.done == 0 || piece.start == leading else {
                hashers[piece.start, default: .proving()].update(bytes)
                return piece.start
            }
            leading = piece.start
            front.digests.update(bytes)
            front.position += Int64(bytes.count)
            return 0
        }

        /// A note on what runs from a place on, once enough has come or the piece is whole.
        mutating func note(from start: Int64, to end: Int64, isWhole: Bool, unit: Int64) -> PartNote? {
            guard isWhole || end - noted[start, default: start] >= unit else { return nil }
            noted[start] = end
            let digests = start == 0 ? front.digests : hashers[start]
            return digests.map { PartNote(start: start, end: end, proof: $0.proof) }
        }
    }

    private let state: Mutex<State>
    /// The number of bytes of a stretch that are worth a note.
    private let unit: Int64

    /// - Parameters:
    ///   - front: what lies before the pieces.
    ///   - hashers: for each piece that has bytes, by its start, one that has seen them.
    ///   - unit: how many bytes of a stretch are worth a note.
    init(_ map: RangeMap, front: Front, hashers: [Int64: RunningDigests], unit: Int64 = .max) {
        let covered = front.position + map.covered
        state = Mutex(State(map: map, front: front, hashers: hashers, covered: covered, told: covered))
        self.unit = unit
    }

    /// Takes in bytes of a piece that were written behind those before.
    func take(_ bytes: UnsafeRawBufferPointer, of start: Int64) -> Taken {
        state.withLock { state in
            guard let index = state.map.index(of: start) else {
                return Taken(covered: state.covered, isWorthTelling: false)
            }
            let count = min(Int64(bytes.count), state.map.pieces[index].rest)
            let from = state.digest(
                UnsafeRawBufferPointer(rebasing: bytes[..<Int(count)]), of: state.map.pieces[index])
            state.map.pieces[index].done += count
            state.covered += count
            let isWorthTelling = state.covered - state.told >= 256 << 10
            if isWorthTelling { state.told = state.covered }
            let piece = state.map.pieces[index]
            return Taken(
                covered: state.covered, isWorthTelling: isWorthTelling,
                note: state.note(from: from, to: piece.position, isWhole: piece.isWhole, unit: unit))
        }
    }

    /// Work for one more stream, which has it until ``leave(_:)``; nil when there is none.
    func begin(_ length: Int64?, streams: Int) -> RangeMap.Piece? {
        state.withLock { state in
            guard let piece = state.map.next(length, besides: state.running, streams: streams) else { return nil }
            state.running.insert(piece.start)
            return piece
        }
    }

    /// A stream no longer receives its piece.
    func leave(_ start: Int64) { state.withLock { _ = $0.running.remove(start) } }

    /// Leaves to the running streams what they receive soon.
    func shorten(to length: Int64) { state.withLock { $0.map.shorten($0.running, to: length) } }

    /// Leaves what streams that did not pay were to receive to those before them, who need no new request for it; tells
    /// which have nothing to do any more.
    func giveBack(_ starts: some Sequence<Int64>) -> [Int64] {
        state.withLock { state in
            starts.filter { start in
                let others = state.running.subtracting([start])
                guard let lost = state.map.giveBack(start, besides: others) else { return false }
                state.covered -= lost
                // Whoever begins at its place later begins with nothing.
                state.hashers[start] = nil
                state.noted[start] = nil
                return true
            }
        }
    }

    /// Returns where the next byte of a piece goes, and where it ends; nil for one that is whole and was taken off.
    func bounds(of start: Int64) -> (position: Int64, end: Int64)? {
        state.withLock { state in
            state.map.index(of: start).map { (state.map.pieces[$0].position, state.map.pieces[$0].end) }
        }
    }

    /// What followed on the front was read from the file: the pieces that nobody receives any more are forgotten.
    func advance(to front: Front) {
        state.withLock { state in
            state.front = front
            forget(&state)
        }
    }

    private func forget(_ state: inout State) {
        _ = state.map.absorb(from: 0, to: state.front.position, besides: state.running)
        let starts = Set(state.map.pieces.map(\.start))
        state.hashers = state.hashers.filter { starts.contains($0.key) }
        state.noted = state.noted.filter { starts.contains($0.key) || $0.key == 0 }
    }

    /// The number of bytes of the file that are there.
    var covered: Int64 { state.withLock(\.covered) }

    var snapshot: Snapshot {
        let (seen, hashers) = state.withLock { state in
            forget(&state)
            return (Snapshot(map: state.map, front: state.front, covered: state.covered), state.hashers)
        }
        var snapshot = seen
        for index in seen.map.pieces.indices where seen.map.pieces[index].done > 0 {
            snapshot.map.pieces[index].digest = hashers[seen.map.pieces[index].start]?.proof
        }
        return snapshot
    }
}
