import Crypto
import PipelineCore
import Synchronization

/// How far the streams of a download are, with the digest of each piece running; told on the transport's thread.
final class RangeProgress: Sendable {
    private struct State: Sendable {
        var map: RangeMap
        var hashers: [SHA256]
        var covered: Int64
        var told: Int64
    }

    private let state: Mutex<State>

    /// - Parameter hashers: one for each piece, which has seen the bytes that are there.
    init(_ map: RangeMap, hashers: [SHA256]) {
        state = Mutex(State(map: map, hashers: hashers, covered: map.covered, told: map.covered))
    }

    /// Bytes of a piece that were written behind those before; how many there are of all pieces, and whether that is
    /// worth telling.
    func take(_ bytes: UnsafeRawBufferPointer, of piece: Int) -> (covered: Int64, isWorthTelling: Bool) {
        state.withLock { state in
            state.hashers[piece].update(bufferPointer: bytes)
            state.map.pieces[piece].done += Int64(bytes.count)
            state.covered += Int64(bytes.count)
            guard state.covered - state.told >= 256 << 10 else { return (state.covered, false) }
            state.told = state.covered
            return (state.covered, true)
        }
    }

    /// Where the next byte of a piece goes.
    func position(of piece: Int) -> Int64 { state.withLock { $0.map.pieces[piece].position } }

    /// A consistent view: each digest is that of exactly the bytes counted.
    var map: RangeMap {
        let (map, hashers) = state.withLock { ($0.map, $0.hashers) }
        var seen = map
        for index in seen.pieces.indices where seen.pieces[index].done > 0 {
            seen.pieces[index].digest = hashers[index].finalize().hex
        }
        return seen
    }
}
