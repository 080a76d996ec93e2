import CLibrary
package import PipelineHTTP

/// The bytes that a body puts on the wire.
package enum BodyBytes {
    package static func all(of body: RequestBody) -> [UInt8] {
        body.segments.flatMap { segment -> [UInt8] in
            switch segment {
            case .bytes(let bytes): bytes
            case .file(let path, let offset, let length): file(path, offset, length)
            case .gzip(let content): (try? content.bytes()) ?? []
            case .base64(let path, let fileSize): Array("<base64 of \(path), \(fileSize)>".utf8)
            case .lines(let path, let length): Array("<lines of \(path), \(length)>".utf8)
            }
        }
    }

    private static func file(_ path: String, _ offset: Int64, _ length: Int64) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        return [UInt8](unsafeUninitializedCapacity: Int(length)) { buffer, count in
            count = max(0, pread(descriptor, buffer.baseAddress, Int(length), off_t(offset)))
        }
    }
}
