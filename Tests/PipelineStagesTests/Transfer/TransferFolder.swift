import CLibrary
import PipelineCore
import Crypto

@testable import PipelineStages

/// A folder of its own with files of known bytes; it goes away with the value.
final class TransferFolder: Sendable {
    let path: String

    init() {
        var template = Array("/tmp/pipeline-transfer-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else { preconditionFailure("there is no room for a folder in /tmp") }
        path = String(cString: made)
    }

    deinit { Self.remove(path) }

    /// Bytes that repeat only after 3 MiB, so that a shifted piece is noticed.
    static func bytes(_ count: Int, seed: Int = 1) -> [UInt8] {
        let start = seed * 7919 % 4096
        var bytes: [UInt8] = []
        while bytes.count < count { bytes += noise[start..<min(noise.count, start + count - bytes.count)] }
        return bytes
    }

    /// A xorshift generator's output (Marsaglia, 2003).
    private static let noise = {
        var state: UInt64 = 0x9E37_79B9_7F4A_7C15
        let words = (0..<(3 << 17) + 1024).map { _ -> UInt64 in
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return state
        }
        return words.withUnsafeBytes { Array($0) }
    }()

    static func sha256(_ bytes: [UInt8]) -> String { SHA256.hash(data: bytes).hex }

    @discardableResult func write(_ name: String, _ bytes: [UInt8]) -> String {
        let descriptor = open("\(path)/\(name)", O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        defer { close(descriptor) }
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { Self.write(descriptor, $0.baseAddress! + done, bytes.count - done) }
            if count <= 0 { break }
            done += count
        }
        return "\(path)/\(name)"
    }

    func append(_ name: String, _ bytes: [UInt8]) {
        let descriptor = open("\(path)/\(name)", O_WRONLY | O_APPEND)
        _ = bytes.withUnsafeBytes { Self.write(descriptor, $0.baseAddress!, bytes.count) }
        close(descriptor)
    }

    /// Changes bytes of a file, or only its rights, and sets its time back to what it was.
    func overwriteInSecret(_ name: String, at offset: Int, _ bytes: [UInt8]?) {
        var status = stat()
        stat("\(path)/\(name)", &status)
        let descriptor = open("\(path)/\(name)", O_WRONLY)
        defer { close(descriptor) }
        if let bytes { _ = bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, bytes.count, off_t(offset)) } }
        fchmod(descriptor, 0o600)
        let times = [status.st_atim, status.st_mtim]
        futimens(descriptor, times)
    }

    /// The bytes of a file; nil when there is none.
    func read(_ name: String) -> [UInt8]? {
        let descriptor = open("\(path)/\(name)", O_RDONLY)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        fstat(descriptor, &status)
        return [UInt8](unsafeUninitializedCapacity: Int(status.st_size)) { buffer, done in
            done = max(0, pread(descriptor, buffer.baseAddress, Int(status.st_size), 0))
        }
    }

    var names: [String] { Self.names(in: path) }

    static func names(in path: String) -> [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    private static func write(_ descriptor: Int32, _ bytes: UnsafeRawPointer, _ count: Int) -> Int {
        CLibrary.write(descriptor, bytes, count)
    }

    private static func remove(_ path: String) {
        for name in names(in: path) where unlink("\(path)/\(name)") != 0 { remove("\(path)/\(name)") }
        rmdir(path)
    }
}
