import PipelineHTTP
import Testing

@testable import PipelineStages

@Suite("How much goes into one append")
struct UploadChunkTests {
    private static let part: Int64 = 8 << 20

    /// 12.5 of 24 MiB were sent again: all went in one.
    @Test("is one part at first where nothing of a broken one may be kept, and then what ten seconds bring")
    func paced() {
        var chunk = UploadChunk(part: Self.part, isPaced: true)
        #expect(chunk.size == Self.part)
        chunk.noteSent(Self.part, in: ExchangeTimings(connect: 1, total: 9))
        #expect(chunk.size == 10 << 20)
        chunk.noteSent(10 << 20, in: ExchangeTimings(total: 100))
        #expect(chunk.size == 1 << 20, "a slow line gets less than a part")
        chunk.noteSent(1, in: ExchangeTimings(total: 1))
        #expect(chunk.size == 64 << 10)
        chunk.noteSent(1 << 20, in: ExchangeTimings())
        #expect(chunk.size == .max, "as fast as nothing is all")
        #expect(UploadChunk(part: Self.part).size == nil)
    }

    @Test("is bounded by what was lost once, and grows again to a part and no further")
    func lost() {
        var chunk = UploadChunk(part: Self.part, handedOver: 12 << 20, isPaced: true)
        chunk.noteKept(false)
        #expect(chunk.safe == Self.part)
        var small = UploadChunk(part: Self.part, handedOver: 2 << 20, isPaced: true)
        small.noteKept(false)
        #expect(small.safe == 1 << 20 && small.size == 1 << 20)
        small.noteSent(1 << 20, in: ExchangeTimings())
        #expect(small.safe == 9 << 17)
        for _ in 0..<20 { small.noteSent(1 << 20, in: ExchangeTimings()) }
        #expect(small.size == Self.part)
        var kept = UploadChunk(part: Self.part, handedOver: 12 << 20, isPaced: true)
        kept.noteKept(true)
        #expect(kept.safe == nil)
        // What others lose of less than a part is no more than they promise.
        var unpaced = UploadChunk(part: Self.part, handedOver: 2 << 20)
        unpaced.noteKept(false)
        #expect(unpaced.size == nil)
    }

    /// The sum of all attempts was halved: an upload whose line broke after 3 MB went on with appends of 3.4 MB for ever.
    @Test(
        "is halved by each attempt of which nothing is kept, whatever they come to together", arguments: [true, false])
    func lostAgain(isPaced: Bool) {
        var (safe, handedOver): (Int64?, Int64) = (nil, 0)
        var sizes: [Int64] = []
        for _ in 0..<4 {
            handedOver += 12 << 20
            var chunk = UploadChunk(safe: safe, part: Self.part, handedOver: handedOver, isPaced: isPaced)
            chunk.noteKept(false)
            safe = chunk.safe
            sizes.append(safe ?? 0)
        }
        #expect(sizes == [8 << 20, 4 << 20, 2 << 20, 1 << 20])
    }

    @Test("is no more than the service takes, whatever was sent")
    func refused() {
        var chunk = UploadChunk(part: Self.part, isPaced: true)
        let isShrunk = chunk.shrink(below: 4 << 20)
        #expect(isShrunk)
        chunk.noteSent(2 << 20, in: ExchangeTimings())
        #expect(chunk.size == 2 << 20)
    }
}
