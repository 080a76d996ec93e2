import PipelineTestKit
import Testing

@testable import PipelineStages

@Suite("The pieces of a download in several streams")
struct RangeMapTests {
    private let mebibyte: Int64 = 1 << 20

    @Test("one stream has all there is, and a second one takes what it can from the end")
    func trial() {
        var map = RangeMap(from: 0, to: 100 * mebibyte)
        #expect(map.next(nil, besides: [], streams: 1) == RangeMap.Piece(start: 0, end: 100 * mebibyte))
        map.pieces[0].done = 20 * mebibyte
        let second = map.next(8 * mebibyte, besides: [0], streams: 2)
        #expect(second == RangeMap.Piece(start: 92 * mebibyte, end: 100 * mebibyte))
        #expect(map.pieces.map(\.end) == [92 * mebibyte, 100 * mebibyte])
    }

    @Test("once several are worth it they take pieces from the front")
    func front() {
        var map = RangeMap(from: 0, to: 100 * mebibyte)
        map.pieces[0].done = 20 * mebibyte
        map.shorten([0], to: 8 * mebibyte)
        #expect(map.pieces.map(\.end) == [28 * mebibyte, 100 * mebibyte])
        #expect(map.next(8 * mebibyte, besides: [0], streams: 2)?.start == 28 * mebibyte)
        #expect(map.next(8 * mebibyte, besides: [0, 28 * mebibyte], streams: 3)?.start == 36 * mebibyte)
    }

    @Test("what is left is shared evenly, down to what is worth a request")
    func fair() {
        var map = RangeMap(from: 0, to: 9 * mebibyte)
        var running: Set<Int64> = []
        for _ in 0..<4 {
            if let piece = map.next(.max, besides: running, streams: 4) { running.insert(piece.start) }
        }
        #expect(running.count == 4)
        var tiny = RangeMap(from: 0, to: mebibyte - 1)
        #expect(tiny.next(.max, besides: [], streams: 64)?.end == mebibyte - 1)
        #expect(tiny.next(.max, besides: [0], streams: 64) == nil)
    }

    @Test(
        "a piece of which most is missing goes back to the stream before it, and nobody begins at its place meanwhile")
    func giveBack() {
        var map = RangeMap(from: 0, to: 100 * mebibyte)
        map.pieces[0].done = 20 * mebibyte
        let start = 92 * mebibyte
        _ = map.next(8 * mebibyte, besides: [0], streams: 2)
        for much in [5, 2] {
            map.pieces[1].done = Int64(much) * mebibyte
            #expect(map.giveBack(start, besides: [0]) == nil)
        }
        map.pieces[1].done = mebibyte
        #expect(map.giveBack(start, besides: []) == nil)
        #expect(map.giveBack(start, besides: [0]) == mebibyte)
        #expect(map.pieces.map(\.end) == [100 * mebibyte])
        #expect(map.giveBack(start, besides: [0]) == nil)
        #expect(map.next(8 * mebibyte, besides: [0, start], streams: 2)?.start == start - 1)
    }

    @Test("whole pieces at the front become part of the prefix, unless somebody still looks at them")
    func absorb() {
        var map = RangeMap(from: 5, to: 3 * mebibyte)
        map.shorten([5], to: mebibyte)
        map.pieces[0].done = mebibyte
        #expect(map.front(from: 5) == 5 + mebibyte)
        #expect(map.absorb(from: 5, to: 5 + mebibyte, besides: [5]) == 5)
        #expect(map.absorb(from: 5, to: 5, besides: []) == 5)
        #expect(map.absorb(from: 5, to: 5 + mebibyte, besides: []) == 5 + mebibyte)
        #expect(map.pieces.count == 1)
    }

    @Test("whatever the streams do, no byte is left out and none is received twice", arguments: 1...20)
    func whole(seed: Int) {
        let randomness = SeededRandomness(seed: UInt64(seed))
        let total = Int64(randomness.number(in: 1...(60 << 20)))
        var map = RangeMap(from: 0, to: total)
        var running: Set<Int64> = []
        var prefix: Int64 = 0
        var received: Int64 = 0
        var turns = 0
        while prefix < total, turns < 100_000 {
            turns += 1
            switch randomness.number(in: 0...4) {
            case 0 where running.count < 6:
                let length = randomness.chance(0.2) ? nil : Int64(randomness.number(in: 1...(8 << 20)))
                if let piece = map.next(length, besides: running, streams: 6) { running.insert(piece.start) }
            case 1: map.shorten(running, to: Int64(randomness.number(in: 1...(4 << 20))))
            case 2: prefix = map.absorb(from: prefix, to: .max, besides: running)
            default:
                guard let start = running.sorted().first(where: { _ in randomness.chance(0.5) }),
                    let index = map.index(of: start)
                else { continue }
                let count = min(map.pieces[index].rest, Int64(randomness.number(in: 1...(512 << 10))))
                map.pieces[index].done += count
                received += count
                if map.pieces[index].isWhole { running.remove(start) }
            }
            #expect(map.pieces.first?.start ?? total == prefix)
            #expect(zip(map.pieces, map.pieces.dropFirst()).allSatisfy { $0.end == $1.start })
            #expect(map.pieces.last?.end ?? total == total)
        }
        #expect(prefix == total && received == total)
        #expect(map.pieces.count <= 256)
    }
}
