import FoundationEssentials
import Glibc
import PipelineHTTP
import Synchronization

/// Answers of services in a folder of the state folder, a file each, readable by this user alone.
///
/// A file appears whole, by a rename. The oldest go when all together are more than a limit.
final class FolderResponseCache: ResponseCache {
    private let folder: String
    private let limit: Int64
    private let writes = Mutex(0)

    /// - Parameter limit: bytes of all answers together.
    init(folder: String, limit: Int64 = 256 << 20) {
        self.folder = folder
        self.limit = limit
    }

    /// The first line of a file; the body follows it.
    private struct Head: Codable {
        var status: Int
        var fields: [CachedResponse.Field]
        var url: String
        var time: Double
        var variant: CachedResponse.Variant
        var length: Int
    }

    func answer(for key: String) async -> CachedResponse? {
        guard let bytes = FileContent.bytes("\(folder)/\(key)"),
            let line = bytes.firstIndex(of: UInt8(ascii: "\n")),
            let head = try? JSONDecoder().decode(Head.self, from: Data(bytes[..<line]))
        else { return nil }
        let body = Array(bytes[(line + 1)...])
        guard body.count == head.length else { return nil }
        return CachedResponse(
            status: head.status, fields: head.fields, url: head.url, body: body, time: head.time, variant: head.variant)
    }

    func keep(_ answer: CachedResponse, for key: String) async {
        guard answer.body.count <= limit / 8 else { return }
        let head = Head(
            status: answer.status, fields: answer.fields, url: answer.url, time: answer.time, variant: answer.variant,
            length: answer.body.count)
        guard let line = try? JSONEncoder().encode(head) else { return }
        let count = writes.withLock { count in
            count += 1
            return count
        }
        mkdir(folder, 0o700)
        write(Array(line) + [UInt8(ascii: "\n")] + answer.body, as: key, draft: "\(key).\(getpid()).\(count)")
        if count % 32 == 1 { prune() }
    }

    private func write(_ bytes: [UInt8], as key: String, draft: String) {
        let path = "\(folder)/\(draft)"
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return }
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress! + written, bytes.count - written)
            }
            if count < 0, errno == EINTR { continue }
            if count <= 0 { break }
            written += count
        }
        close(descriptor)
        if written < bytes.count || rename(path, "\(folder)/\(key)") != 0 { unlink(path) }
    }

    private func prune() {
        var files: [(path: String, size: Int64, time: Int)] = FolderContent.names(folder).compactMap { name in
            var status = stat()
            guard lstat("\(folder)/\(name)", &status) == 0 else { return nil }
            return ("\(folder)/\(name)", Int64(status.st_size), status.st_mtim.tv_sec)
        }
        var total = files.reduce(0) { $0 + $1.size }
        files.sort { $0.time < $1.time }
        for file in files where total > limit {
            unlink(file.path)
            total -= file.size
        }
    }
}
