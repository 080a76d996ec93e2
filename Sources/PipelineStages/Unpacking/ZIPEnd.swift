import CLibrary

/// The end of a ZIP archive, which says where the list of its entries stands (APPNOTE.TXT 6.3.10, section 4.3.16).
///
/// libarchive reads an archive without it entry by entry, as from a stream, and then does not miss what was cut off.
enum ZIPEnd {
    /// Its length without the comment, in bytes; the comment has at most 65535.
    private static let length = 22
    private static let signature: [UInt8] = [0x50, 0x4b, 0x05, 0x06]

    /// Refuses an archive that has no such end.
    static func check(_ path: String) throws(UnpackFailure) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .file(.last("read", path)) }
        defer { close(descriptor) }
        let size = Int64(lseek(descriptor, 0, SEEK_END))
        var tail: [UInt8] = []
        do throws(FileFailure) {
            let start = max(0, size - Int64(length + 0xffff))
            _ = try FileDigest.read(descriptor, path, start..<max(start, size)) { tail += $0 }
        } catch {
            throw .file(error)
        }
        guard isThere(in: tail) else { throw .damaged("the list of its entries is missing: it was cut short") }
    }

    /// What stands behind it may be more than its comment: some tools leave bytes there.
    private static func isThere(in tail: [UInt8]) -> Bool {
        guard tail.count >= length else { return false }
        return (0...tail.count - length).reversed().contains { start in
            guard tail[start] == signature[0], tail[start..<start + 4].elementsEqual(signature) else { return false }
            return start + length + Int(tail[start + 20]) + Int(tail[start + 21]) << 8 <= tail.count
        }
    }
}
