import Foundation

/// A folder that goes away with the test.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "pipeline-http-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    func file(_ name: String) -> String { "\(path)/\(name)" }

    /// A file of bytes i modulo 251, as ``ScriptedAnswer`` sends.
    func filled(_ name: String, _ count: Int) throws -> String {
        try Data((0..<count).map { UInt8($0 % 251) }).write(to: URL(fileURLWithPath: file(name)))
        return file(name)
    }

    /// A file of zeros that takes no room.
    func sparse(_ name: String, _ count: Int64) -> String {
        let descriptor = open(file(name), O_WRONLY | O_CREAT, 0o600)
        ftruncate(descriptor, off_t(count))
        close(descriptor)
        return file(name)
    }

    func bytes(_ name: String) -> [UInt8] {
        (try? Data(contentsOf: URL(fileURLWithPath: file(name)))).map { Array($0) } ?? []
    }

    func size(_ name: String) -> Int64 {
        var status = stat()
        return stat(file(name), &status) == 0 ? Int64(status.st_size) : -1
    }
}
