import CLibrary
import Foundation
import PipelineHTTP
import PipelineKit
import Synchronization

/// The cache that the response cache is measured against: a file for each response, which appears whole by a rename.
final class FolderResponseCache: ResponseCache {
    private let folder: String
    private let writes = Mutex(0)

    init(folder: String) { self.folder = folder }

    /// The first line of a file; the body follows it.
    private struct Head: Codable {
        var status: Int
        var fields: [[String]]
        var url: String
        var time: Double
        var names: [String]
        var digest: String
        var length: Int
    }

    func response(for key: String) async -> CachedResponse? {
        guard let bytes = FileContent.bytes("\(folder)/\(key)"), let line = bytes.firstIndex(of: UInt8(ascii: "\n")),
            let head = try? JSONDecoder().decode(Head.self, from: Data(bytes[..<line]))
        else { return nil }
        let body = Array(bytes[(line + 1)...])
        guard body.count == head.length else { return nil }
        return CachedResponse(
            status: head.status, fields: head.fields.map { .init(name: $0[0], value: $0[1]) }, url: head.url,
            body: body, time: head.time, variant: .init(names: head.names, digest: head.digest))
    }

    func store(_ response: CachedResponse, for key: String) async {
        let head = Head(
            status: response.status, fields: response.fields.map { [$0.name, $0.value] }, url: response.url,
            time: response.time, names: response.variant.names, digest: response.variant.digest,
            length: response.body.count)
        guard let line = try? JSONEncoder().encode(head) else { return }
        let count = writes.withLock { count in
            count += 1
            return count
        }
        mkdir(folder, 0o700)
        let draft = "\(folder)/\(key).\(getpid()).\(count)"
        guard FileContent.write(Array(line) + [UInt8(ascii: "\n")] + response.body, to: draft) else { return }
        rename(draft, "\(folder)/\(key)")
        if count % 32 == 1 { addUp() }
    }

    /// The size of all files, as it has to be known before the oldest can go.
    private func addUp() {
        for name in FolderContent.names(folder) {
            var status = stat()
            lstat("\(folder)/\(name)", &status)
        }
    }
}
