import CLibrary

/// An open file, closed when it is released. Not Sendable: its owner uses it from one place at a time.
final class DiskFile {
    private let descriptor: CInt

    init(reading path: String) throws(DiskError) {
        descriptor = try DiskError.check("open", path) { open(path, O_RDONLY | O_CLOEXEC) }
    }

    /// Makes the file, or empties the one that is there.
    init(creating path: String) throws(DiskError) {
        descriptor = try DiskError.check("create", path) {
            open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        }
    }

    deinit {
        close(descriptor)
    }

    func size() throws(DiskError) -> Int {
        var status = stat()
        _ = try DiskError.check("look at", "file") { fstat(descriptor, &status) }
        return Int(status.st_size)
    }

    /// Up to `count` bytes from `offset`; fewer only at the end of the file.
    func read(at offset: Int, count: Int) throws(DiskError) -> [UInt8] {
        var problem: DiskError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let rest = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[filled...])
                let got = pread(descriptor, rest.baseAddress, rest.count, off_t(offset + filled))
                if got == 0 { return }
                if got < 0 {
                    if errno == EINTR { continue }
                    problem = DiskError("read", "file", errno)
                    return
                }
                filled += got
            }
        }
        if let problem { throw problem }
        return bytes
    }

    /// Appends at the end of what was written so far.
    func write(_ bytes: [UInt8]) throws(DiskError) {
        var problem: DiskError?
        bytes.withUnsafeBytes { buffer in
            do throws(DiskError) { try write(buffer) } catch { problem = error }
        }
        if let problem { throw problem }
    }

    /// Appends at the end of what was written so far.
    func write(_ bytes: UnsafeRawBufferPointer) throws(DiskError) {
        var written = 0
        while written < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
            let put = CLibrary.write(descriptor, rest.baseAddress, rest.count)
            if put < 0 {
                if errno == EINTR { continue }
                throw DiskError("write", "file", errno)
            }
            written += put
        }
    }

    /// Returns when the bytes are on the disk: fsync(2).
    func synchronize() throws(DiskError) {
        _ = try DiskError.check("synchronise", "file") { fsync(descriptor) }
    }

    /// Puts a whole file in its place, so that a crash leaves the old or the new one: write aside, fsync, rename.
    static func replace(_ path: String, with bytes: [UInt8]) throws(DiskError) {
        let aside = path + ".new"
        let file = try DiskFile(creating: aside)
        try file.write(bytes)
        try file.synchronize()
        try move(aside, to: path)
    }

    /// rename(2), and fsync of the folder, so that the new name survives a crash.
    static func move(_ source: String, to target: String) throws(DiskError) {
        _ = try DiskError.check("rename", source) { rename(source, target) }
        let folder = target.lastIndex(of: "/").map { String(target[..<$0]) } ?? "."
        let handle = try DiskFile(reading: folder.isEmpty ? "/" : folder)
        try handle.synchronize()
    }
}
