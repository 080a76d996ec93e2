import Crypto

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Digests of files on the disk, read in pieces.
enum FileDigest {
    /// The digest of a file, or of its first `length` bytes; nil when it is shorter.
    static func bytes<Hash: HashFunction>(
        _ hash: Hash.Type, of path: String, length: Int64? = nil
    ) throws(FileFailure) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .last("read", path) }
        defer { close(descriptor) }
        var hasher = hash.init()
        let count = try feed(descriptor, path, length: length, to: &hasher)
        if let length, count < length { return nil }
        return Array(hasher.finalize())
    }

    /// The checksum of a file, the most significant byte first.
    static func checksum(_ kind: CyclicChecksum.Kind, of path: String) throws(FileFailure) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .last("read", path) }
        defer { close(descriptor) }
        var checksum = CyclicChecksum(kind)
        _ = try read(descriptor, path, from: 0, length: nil) { checksum.update($0) }
        return checksum.bytes
    }

    /// Reads from an offset into a digest that runs on; returns how much there was.
    static func feed(
        _ descriptor: Int32, _ path: String, from start: Int64 = 0, length: Int64?, to hasher: inout some HashFunction
    ) throws(FileFailure) -> Int64 {
        try read(descriptor, path, from: start, length: length) { hasher.update(bufferPointer: $0) }
    }

    private static func read(
        _ descriptor: Int32, _ path: String, from start: Int64, length: Int64?, _ take: (UnsafeRawBufferPointer) -> Void
    ) throws(FileFailure) -> Int64 {
        let size = 1 << 20
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 4096)
        defer { buffer.deallocate() }
        var position: Int64 = 0
        while position < length ?? .max {
            let wanted = Int(min(Int64(size), (length ?? .max) - position))
            let count = pread(descriptor, buffer.baseAddress!, wanted, off_t(start + position))
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .last("read", path) }
            if count == 0 { break }
            take(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            position += Int64(count)
        }
        return position
    }
}
