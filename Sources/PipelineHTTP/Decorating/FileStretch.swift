#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A range of a local file that a decorator reads before it is sent.
struct FileStretch {
    let path: String
    let offset: Int64
    let length: Int64

    /// Gives the bytes in pieces, in order.
    func read(_ take: (UnsafeRawBufferPointer) -> Void) throws(RequestFailure) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure() }
        defer { close(descriptor) }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 4096)
        defer { buffer.deallocate() }
        var position = offset
        while position < offset + length {
            let wanted = Int(min(Int64(buffer.count), offset + length - position))
            let count = pread(descriptor, buffer.baseAddress!, wanted, off_t(position))
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure() }
            guard count > 0 else { throw RequestFailure("\(path) is shorter than it was") }
            take(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            position += Int64(count)
        }
    }

    private func failure() -> RequestFailure {
        RequestFailure("can't read \(path): \(String(cString: strerror(errno)))")
    }
}
