import CLibrary
import Crypto
import PipelineCore
import Synchronization

/// A claim about a stretch of a file: the ``RunningDigests/proof`` of its bytes.
struct PartNote: Sendable, Hashable {
    let start: Int64
    /// Behind its last byte.
    let end: Int64
    let proof: String
}

/// Notes on how far a part has come, which it carries behind the end of the file that it is to be.
///
/// A checkpoint counts bytes once they are on the disk, and waits for that; what comes until the next one would be lost
/// to a process that is killed, although the kernel has it. A note is one small write for which nobody waits. It is
/// believed only as far as it proves itself: a restart reads the bytes that it speaks of and compares their digest. So it
/// does not matter what a power cut leaves of the notes or of the bytes, in which order they came to the disk, and
/// whether a note is torn: at worst the checkpoint holds.
///
/// The notes live and end with the file. Whoever makes another one of that name, or cuts this one off, takes them away,
/// and so does the truncation that makes it whole.
final class PartNotes: Sendable {
    /// See ``unit(for:)``.
    let unit: Int64
    private let part: PartFile
    /// The place where the next note goes; nil once there is no room for more.
    private let next: Mutex<Int64?>
    private let begin: Int64
    private let limit: Int64
    /// Written with the first note: a small file, which is worth none, is never longer than it is to be.
    private let owner: String

    /// Returns how many bytes of one stream are worth a note: a two-thousandth of a large file, so that the notes stay
    /// few.
    static func unit(for total: Int64) -> Int64 { max(smallestUnit, total / 2048) }

    private static let smallestUnit: Int64 = 256 << 10
    private static let mostBytes: Int64 = 1 << 20

    /// Begins notes behind the end, and forgets those of an earlier try.
    ///
    /// - Parameters:
    ///   - total: the length of the whole file.
    ///   - owner: who may believe them, see ``owner(_:)``.
    init(_ part: PartFile, behind total: Int64, of owner: String) {
        self.part = part
        unit = Self.unit(for: total)
        self.owner = owner
        begin = total
        limit = total + Self.mostBytes
        next = Mutex(total)
        if part.size > total { ftruncate(part.descriptor, off_t(total)) }
    }

    /// Adds a note on bytes that were written; from any thread. A disk that is full is no reason to fail: there are
    /// checkpoints.
    func add(_ note: PartNote) {
        let line = "\(note.start) \(note.end) \(note.proof)\n"
        next.withLock { next in
            guard let place = next else { return }
            let bytes = Array((place == begin ? "\(owner)\n\(line)" : line).utf8)
            let isWritten = pwrite(part.descriptor, bytes, bytes.count, off_t(place)) == bytes.count
            next = isWritten && place < limit ? place + Int64(bytes.count) : nil
        }
    }

    /// A name for what may be put together: bytes that one step of one job received of one version of a resource. The
    /// same place may hold what another job has begun to receive, which may even begin with the same bytes.
    static func owner(_ parts: [String]) -> String {
        var digest = SHA256()
        for part in parts { digest.update(data: Array("\(part.utf8.count):\(part)".utf8)) }
        return digest.finalize().hex
    }

    /// The last note on each stretch, in the order of the file; none of another owner. They are still to be proven.
    static func read(from part: PartFile, behind total: Int64, of owner: String) -> [PartNote] {
        let count = Int(min(part.size - total, mostBytes + 1024))
        guard count > owner.utf8.count else { return [] }
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, count in
            count = max(0, pread(part.descriptor, buffer.baseAddress, buffer.count, off_t(total)))
        }
        // What stands behind the last end of a line was cut off.
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast()
        guard let first = lines.first, first.elementsEqual(owner.utf8) else { return [] }
        var notes: [Int64: PartNote] = [:]
        for line in lines.dropFirst() {
            let words = String(decoding: line, as: UTF8.self).split(separator: " ")
            guard words.count == 3, let start = Int64(words[0]), let end = Int64(words[1]),
                0 <= start, start < end, end <= total
            else { continue }
            notes[start] = PartNote(start: start, end: end, proof: String(words[2]))
        }
        return notes.values.sorted { $0.start < $1.start }
    }
}

extension [PartNote] {
    /// The digests by which they are proven.
    var algorithms: [DigestAlgorithm] {
        Array<DigestAlgorithm>(Set(map { RunningDigests.algorithm(ofProof: $0.proof) }))
    }
}

extension PartFile {
    /// Returns how far the bytes from a place on are those that somebody says: the furthest claim that is true, and the
    /// digests up to there. Without one it is the place itself.
    ///
    /// - Parameters:
    ///   - claims: in the order of their ends; each about all bytes from `start` on.
    ///   - digests: what lies before, if they run on from there.
    func proven(
        _ claims: [PartNote], from start: Int64, _ digests: RunningDigests
    ) throws(FileFailure) -> (end: Int64, digests: RunningDigests) {
        var best = (end: start, digests: digests)
        var position = start
        var running = digests
        for claim in claims where claim.end >= position {
            guard try read(position..<claim.end, { running.update($0) }) else { break }
            position = claim.end
            if running.match(claim.proof) { best = (position, running) }
        }
        return best
    }
}
