import PipelineCore
import Testing

@testable import PipelineStages

@Suite("The digests of a download in several streams")
struct RangeProgressTests {
    private let content = TransferFolder.bytes(4 << 20)
    private let mebibyte: Int64 = 1 << 20

    /// A download of which the first mebibyte is there.
    private func progress(_ map: RangeMap) -> RangeProgress {
        var digests = RunningDigests.proving()
        content[..<Int(mebibyte)].withUnsafeBytes { digests.update($0) }
        return RangeProgress(map, front: RangeProgress.Front(position: mebibyte, digests: digests), hashers: [:])
    }

    private func receive(_ range: Range<Int64>, of start: Int64, _ progress: RangeProgress) {
        content[Int(range.lowerBound)..<Int(range.upperBound)].withUnsafeBytes { _ = progress.take($0, of: start) }
    }

    private func digest(_ range: Range<Int64>) -> String {
        var checksum = CRC32C()
        content[Int(range.lowerBound)..<Int(range.upperBound)].withUnsafeBytes {
            checksum.update(bufferPointer: $0)
        }
        return checksum.value.hex
    }

    @Test("one stream is taken into the digest of the whole as it comes, and nothing is left to be read")
    func one() {
        let progress = progress(RangeMap(from: mebibyte, to: 4 * mebibyte))
        _ = progress.begin(nil, streams: 1)
        receive(mebibyte..<2 * mebibyte, of: mebibyte, progress)
        let middle = progress.snapshot
        #expect(middle.front.position == 2 * mebibyte)
        #expect(middle.front.digests.proof == digest(0..<2 * mebibyte))
        // What a checkpoint keeps begins where the file has its first gap.
        #expect(
            middle.map.behind(middle.front.position) == [RangeMap.Piece(start: 2 * mebibyte, end: 4 * mebibyte)])
        receive(2 * mebibyte..<4 * mebibyte, of: mebibyte, progress)
        let end = progress.snapshot
        #expect(end.front.position == 4 * mebibyte)
        #expect(end.front.digests.proof == digest(0..<4 * mebibyte))
        #expect(end.map.behind(end.front.position).isEmpty)
        #expect(progress.covered == 4 * mebibyte)
    }

    @Test("what comes behind a gap has a digest of its own, until the gap is closed and it was read")
    func gap() {
        let (first, second) = (mebibyte, 2 * mebibyte)
        let progress = progress(
            RangeMap(pieces: [.init(start: first, end: second), .init(start: second, end: 4 * mebibyte)]))
        for _ in 0..<2 { _ = progress.begin(nil, streams: 2) }
        receive(second..<3 * mebibyte, of: second, progress)
        #expect(progress.snapshot.front.position == first)
        #expect(progress.snapshot.map.pieces[1].digest == digest(second..<3 * mebibyte))
        receive(first..<second, of: first, progress)
        progress.leave(first)
        // The second goes on with its own: half of it is not in the digest of the whole.
        receive(3 * mebibyte..<4 * mebibyte, of: second, progress)
        progress.leave(second)
        let seen = progress.snapshot
        #expect(seen.front.position == second)
        #expect(seen.front.digests.proof == digest(0..<second))
        #expect(seen.map.front(from: second) == 4 * mebibyte)
        #expect(seen.map.behind(second).map(\.digest) == [digest(second..<4 * mebibyte)])
        var front = seen.front
        content[Int(second)...].withUnsafeBytes { front.digests.update($0) }
        front.position = 4 * mebibyte
        progress.advance(to: front)
        #expect(progress.snapshot.map.pieces.isEmpty)
        #expect(progress.snapshot.front.digests.proof == digest(0..<4 * mebibyte))
    }

    @Test("what a stream received that gave its piece back does not count, nor what still comes to it")
    func giveBack() {
        let (first, second) = (mebibyte, 3 * mebibyte)
        let progress = progress(
            RangeMap(pieces: [.init(start: first, end: second), .init(start: second, end: 4 * mebibyte)]))
        for _ in 0..<2 { _ = progress.begin(nil, streams: 2) }
        receive(second..<second + 1000, of: second, progress)
        #expect(progress.covered == mebibyte + 1000)
        #expect(progress.giveBack([second]) == [second])
        #expect(progress.covered == mebibyte)
        receive(second + 1000..<second + 2000, of: second, progress)
        #expect(progress.covered == mebibyte)
        #expect(progress.bounds(of: second) == nil)
        progress.leave(second)
        // A piece that is cut off at the same place later has a digest of its own.
        #expect(progress.begin(mebibyte, streams: 2)?.start == second)
        receive(second..<second + 1000, of: second, progress)
        #expect(progress.snapshot.map.pieces.last?.digest == digest(second..<second + 1000))
        receive(first..<second, of: first, progress)
        #expect(progress.snapshot.front.digests.proof == digest(0..<second))
    }
}
