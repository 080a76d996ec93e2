import CLibrary
package import PipelineCore

/// Digests of files on the disk, read in pieces.
package enum FileDigest {
    /// The digests of a file, in one read.
    static func digests(
        of path: String, _ algorithms: [DigestAlgorithm]
    ) throws(FileFailure) -> RunningDigests {
        // A pipe that has a result's name is empty, and nobody waits until somebody writes into it.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .last("read", path) }
        defer { close(descriptor) }
        // A device may have no end.
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw FileFailure(action: "read", path: path, code: EINVAL)
        }
        var digests = RunningDigests(algorithms)
        _ = try read(descriptor, path, 0..<Int64.max) { digests.update($0) }
        return digests
    }

    /// The SHA-256 of a file in hex.
    static func sha256(of path: String) throws(FileFailure) -> String {
        try digests(of: path, [.sha256]).hex(.sha256) ?? ""
    }

    /// The digest of a stretch of a file in lower-case hex, read in blocks.
    ///
    /// - Throws: one sentence and a hint, when the file can't be read or is shorter.
    package static func hex(
        _ algorithm: DigestAlgorithm, of path: String, in stretch: Range<Int64>? = nil
    ) throws(StepFailure) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unreadable(path) }
        defer { close(descriptor) }
        var digest = algorithm.begin()
        let count: Int64
        do throws(FileFailure) {
            count = try read(descriptor, path, stretch ?? 0..<Int64.max) { digest.update(bufferPointer: $0) }
        } catch {
            throw unreadable(path)
        }
        if let stretch, count < Int64(stretch.count) {
            throw StepFailure("\(path) has become shorter since the job read it", hint: "start a new job")
        }
        return digest.value.hex
    }

    private static func unreadable(_ path: String) -> StepFailure {
        StepFailure(
            "cannot read \(path): \(String(cString: strerror(errno)).lowercased())",
            hint: "check the path and its permissions")
    }

    /// Reads a stretch of a file piece by piece, as far as the file reaches; returns how much there was.
    static func read(
        _ descriptor: Int32, _ path: String, _ stretch: Range<Int64>, _ take: (UnsafeRawBufferPointer) -> Void
    ) throws(FileFailure) -> Int64 {
        let size = 1 << 20
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 4096)
        defer { buffer.deallocate() }
        var position = stretch.lowerBound
        while position < stretch.upperBound {
            let wanted = Int(min(Int64(size), stretch.upperBound - position))
            let count = pread(descriptor, buffer.baseAddress!, wanted, off_t(position))
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .last("read", path) }
            if count == 0 { break }
            take(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            position += Int64(count)
        }
        return position - stretch.lowerBound
    }
}
