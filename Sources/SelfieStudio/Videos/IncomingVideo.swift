import Crypto
import NIOCore

/// A video on its way in: written to the disk and digested as it comes, never whole in memory.
///
/// Its upload's handler owns it, on the event loop. Writing there is deliberate: the upload library counts bytes as
/// taken once it has handed them over, so they must be in the file before the next event.
final class IncomingVideo {
    private let path: String
    private let file: DiskFile
    private var hasher = SHA256()
    private var bytes = 0

    init(path: String) throws(DiskError) {
        self.path = path
        file = try DiskFile(creating: path)
    }

    func append(_ buffer: ByteBuffer) throws(DiskError) {
        var problem: DiskError?
        buffer.withUnsafeReadableBytes { bytes in
            do throws(DiskError) { try file.write(bytes) } catch { problem = error }
            hasher.update(bufferPointer: bytes)
        }
        if let problem { throw problem }
        bytes += buffer.readableBytes
    }

    /// The complete file. The video must not be appended to any more.
    func finish() -> ReceivedVideo {
        ReceivedVideo(path: path, bytes: bytes, sha256: hasher.finalize().hex)
    }
}

/// A video that has come in completely and waits to be put in its place.
struct ReceivedVideo: Sendable {
    var path: String
    var bytes: Int
    var sha256: String
}
