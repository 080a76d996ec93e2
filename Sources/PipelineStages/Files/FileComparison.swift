import CLibrary

/// The comparison of files byte by byte: a checksum that two files share by chance, or by somebody's wish, must not cost
/// a download.
enum FileComparison {
    /// Returns whether a regular file has the very bytes of a part.
    static func isEqual(_ part: PartFile, to path: String) throws(FileFailure) -> Bool {
        let other = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard other >= 0 else { throw .last("read", path) }
        defer { close(other) }
        var status = stat()
        guard fstat(other, &status) == 0, status.st_mode & S_IFMT == S_IFREG, Int64(status.st_size) == part.size else {
            return false
        }
        let length = 1 << 20
        let mine = UnsafeMutableRawBufferPointer.allocate(byteCount: length, alignment: 4096)
        let theirs = UnsafeMutableRawBufferPointer.allocate(byteCount: length, alignment: 4096)
        defer {
            mine.deallocate()
            theirs.deallocate()
        }
        var position: Int64 = 0
        while true {
            let count = try fill(mine, from: part.descriptor, part.path, at: position)
            guard try fill(theirs, from: other, path, at: position) == count else { return false }
            guard count > 0 else { return true }
            guard memcmp(mine.baseAddress!, theirs.baseAddress!, count) == 0 else { return false }
            position += Int64(count)
        }
    }

    /// Reads as much as there is and fits; returns how much that is.
    private static func fill(
        _ buffer: UnsafeMutableRawBufferPointer, from descriptor: Int32, _ path: String, at position: Int64
    ) throws(FileFailure) -> Int {
        var filled = 0
        while filled < buffer.count {
            let count = pread(
                descriptor, buffer.baseAddress! + filled, buffer.count - filled, off_t(position) + off_t(filled))
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .last("read", path) }
            if count == 0 { break }
            filled += count
        }
        return filled
    }
}
