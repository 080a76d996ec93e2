import Crypto
import Foundation
import JSONPath
import PipelineCore
import Testing

@testable import PipelineStages

@Suite("A digest that runs on")
struct RunningDigestTests {
    private let bytes = (0..<1_000_003).map { UInt8(truncatingIfNeeded: $0 &* 31 / 7) }

    @Test("it is SHA-256, set down and taken up at any place", arguments: [0, 1, 63, 64, 65, 4096, 999_999, 1_000_003])
    func taken(at place: Int) throws {
        var first = ResumableSHA256()
        bytes[..<place].withUnsafeBytes { first.update($0) }
        let mark = first.mark
        #expect(mark.position == Int64(place / 64 * 64))
        let kept = try JSONDecoder().decode(ResumableSHA256.Mark.self, from: JSONEncoder().encode(mark))
        var second = try #require(ResumableSHA256(kept))
        bytes[Int(mark.position)...].withUnsafeBytes { second.update($0) }
        #expect(second.position == Int64(bytes.count))
        #expect(second.digest == Array(SHA256.hash(data: bytes)))
    }

    @Test("its length counts beyond half a gigabyte, where a word of bits runs over")
    func long() throws {
        var whole = ResumableSHA256()
        var theirs = SHA256()
        let block = [UInt8](repeating: 7, count: 1 << 20)
        for _ in 0..<600 {
            block.withUnsafeBytes { whole.update($0) }
            theirs.update(data: block)
        }
        let again = try #require(ResumableSHA256(whole.mark))
        #expect(again.digest == Array(theirs.finalize()))
    }

    /// A service that lost all made the states behind that stay, out of their order.
    @Test("an upload's begins anew at the start, and forgets what lay behind it")
    func backToStart() throws {
        let folder = TransferFolder()
        folder.write("a.bin", bytes)
        let path = folder.path + "/a.bin"
        let source = try SourceFile.inspect(path)
        var first = ResumableSHA256()
        bytes[..<640_000].withUnsafeBytes { first.update($0) }
        let changed = try #require(SourceVersion(path)).changed
        let digest = UploadDigest(source, UploadDigest.Checkpoint(changed: changed, marks: [first.mark]))
        try digest.begin(at: 0)
        bytes[..<64].withUnsafeBytes { digest.take($0, at: 0) }
        #expect(digest.checkpoint(confirmed: 64)?.marks.map(\.position) == [64])
        try digest.begin(at: 64)
        bytes[64...].withUnsafeBytes { digest.take($0, at: 64) }
        #expect(digest.whole()?.digest == Array(SHA256.hash(data: bytes)))
    }

    @Test("what can be no state is none")
    func invalid() {
        #expect(ResumableSHA256(.init(position: 63, words: Array(repeating: 0, count: 8))) == nil)
        #expect(ResumableSHA256(.init(position: 64, words: [1])) == nil)
    }
}
