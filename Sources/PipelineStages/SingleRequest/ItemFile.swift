import CLibrary
import Crypto
import PipelineCore

/// The items of all pages as they are written: JSON Lines in `TO.part`.
///
/// Only what was synced and committed counts: an opened part is cut off after that.
struct ItemFile {
    let part: PartFile
    private(set) var length: Int64
    private var hasher = SHA256()

    /// A new part of the file that is to stand under `target`.
    init<Checkpoint>(of target: String, in context: StageContext<Checkpoint>) throws(StageFailure) {
        part = try ResultFile.openNew(of: target, in: context)
        length = 0
    }

    /// The part of an earlier try; nil when it is gone, too short or not what was written.
    init?<Checkpoint>(
        resuming path: String, length: Int64, digest: String?, in context: StageContext<Checkpoint>
    ) throws(StageFailure) {
        guard let part = try ResultFile.openExisting(path, in: context) else { return nil }
        self.part = part
        self.length = length
        var hasher = SHA256()
        let isLongEnough = try ResultFile.reading(in: context) { () throws(FileFailure) in
            try part.read(0..<length) { hasher.update(bufferPointer: $0) }
        }
        guard isLongEnough, hasher.finalize().hex == digest else { return nil }
        // Another name of a longer file is a result: of a job that was killed while it took the part's name away.
        guard part.size == length || !part.hasOtherNames else { return nil }
        self.hasher = hasher
        try ResultFile.reading(in: context) { () throws(FileFailure) in try part.truncate(to: length) }
    }

    /// The SHA-256 of all that was appended, in hex.
    var digest: String { hasher.finalize().hex }

    /// Appends a page's lines; they are on the disk when it returns.
    mutating func append(_ lines: [UInt8]) throws(FileFailure) {
        guard !lines.isEmpty else { return }
        var done = 0
        while done < lines.count {
            let count = lines.withUnsafeBytes { buffer in
                pwrite(part.descriptor, buffer.baseAddress! + done, lines.count - done, off_t(length) + off_t(done))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .last("write", part.path) }
            done += count
        }
        try part.syncData()
        hasher.update(data: lines)
        length += Int64(lines.count)
    }
}
