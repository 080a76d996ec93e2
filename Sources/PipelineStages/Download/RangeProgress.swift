import Crypto
import PipelineCore
import Synchronization

/// How far the streams of one download have come, with the digest of each piece running; told on the transport's thread.
final class RangeProgress: Sendable {
    private struct State: Sendable {
        var map: RangeMap
        var hashers: [Int64: SHA256]
        var running: Set<Int64> = []
        var covered: Int64
        var told: Int64
    }

    private let state: Mutex<State>

    /// - Parameters:
    ///   - prefix: how many bytes lie before the pieces.
    ///   - hashers: for each piece that has bytes, by its start, one that has seen them.
    init(_ map: RangeMap, prefix: Int64, hashers: [Int64: SHA256]) {
        let covered = prefix + map.covered
        state = Mutex(State(map: map, hashers: hashers, covered: covered, told: covered))
    }

    /// Bytes of a piece that were written behind those before; how many bytes of the file are there, and whether that
    /// is worth telling.
    func take(_ bytes: UnsafeRawBufferPointer, of start: Int64) -> (covered: Int64, isWorthTelling: Bool) {
        state.withLock { state in
            guard let index = state.map.index(of: start) else { return (state.covered, false) }
            let count = min(Int64(bytes.count), state.map.pieces[index].rest)
            state.hashers[start, default: SHA256()].update(
                bufferPointer: UnsafeRawBufferPointer(rebasing: bytes[..<Int(count)]))
            state.map.pieces[index].done += count
            state.covered += count
            guard state.covered - state.told >= 256 << 10 else { return (state.covered, false) }
            state.told = state.covered
            return (state.covered, true)
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

    /// Where the next byte of a piece goes, and where it ends; nil for one that is whole and was taken off.
    func bounds(of start: Int64) -> (position: Int64, end: Int64)? {
        state.withLock { state in
            state.map.index(of: start).map { (state.map.pieces[$0].position, state.map.pieces[$0].end) }
        }
    }

    /// Takes whole pieces off the front, up to a place; gives where the prefix then ends.
    func absorb(from prefix: Int64, to limit: Int64) -> Int64 {
        state.withLock { state in
            let end = state.map.absorb(from: prefix, to: limit, besides: state.running)
            let starts = Set(state.map.pieces.map(\.start))
            state.hashers = state.hashers.filter { starts.contains($0.key) }
            return end
        }
    }

    /// How many bytes of the file are there.
    var covered: Int64 { state.withLock(\.covered) }

    /// A consistent view: each digest is that of exactly the bytes counted.
    var map: RangeMap {
        let (map, hashers) = state.withLock { ($0.map, $0.hashers) }
        var seen = map
        for index in seen.pieces.indices where seen.pieces[index].done > 0 {
            seen.pieces[index].digest = hashers[seen.pieces[index].start]?.finalize().hex
        }
        return seen
    }
}
