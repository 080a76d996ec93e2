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
        let (tail, _) = try FileTail.read(path, most: length + 0xffff)
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

/// The end of a gzip file: the CRC-32 and the length of what was compressed, four bytes each (RFC 1952, section 2.3.1).
enum GZIPEnd {
    /// The most bytes that a file without content takes, its name and its comment included.
    private static let longest = 1 << 16

    /// True if nothing was compressed. libarchive takes such a file for one that it does not know.
    static func isEmpty(_ path: String) throws(UnpackFailure) -> Bool {
        let (bytes, size) = try FileTail.read(path, most: longest)
        // Ten bytes of head and at least two of a block without content stand before the end.
        guard size == bytes.count, size >= 20, bytes.starts(with: [0x1f, 0x8b, 8]) else { return false }
        // Several files one after the other are one: the last of them may be the only one that is empty.
        return bytes.suffix(8).allSatisfy { $0 == 0 } && firstMark(in: bytes.dropFirst(3)) == nil
    }

    /// The place where another compressed file may begin.
    private static func firstMark(in bytes: ArraySlice<UInt8>) -> Int? {
        bytes.indices.dropLast(2).first { bytes[$0..<$0 + 3].elementsEqual([0x1f, 0x8b, 8]) }
    }
}

/// The last bytes of a file.
private enum FileTail {
    /// At most so many of them, and the length of the file in bytes.
    static func read(_ path: String, most: Int) throws(UnpackFailure) -> (bytes: [UInt8], size: Int64) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .file(.last("read", path)) }
        defer { close(descriptor) }
        let size = Int64(lseek(descriptor, 0, SEEK_END))
        var tail: [UInt8] = []
        do throws(FileFailure) {
            let start = max(0, size - Int64(most))
            _ = try FileDigest.read(descriptor, path, start..<max(start, size)) { tail += $0 }
        } catch {
            throw .file(error)
        }
        return (tail, size)
    }
}
