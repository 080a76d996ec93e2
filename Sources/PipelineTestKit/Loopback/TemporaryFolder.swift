import Foundation

/// A folder of a test's own; it goes away with the value.
package final class TemporaryFolder: Sendable {
    package let path: String

    package init() {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("pipeline-test-\(UUID().uuidString)").path
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            preconditionFailure("there is no room for a folder: \(error)")
        }
    }

    deinit { remove() }

    package func remove() { try? FileManager.default.removeItem(atPath: path) }

    /// The path of a file, which need not be there.
    package func file(_ name: String) -> String { "\(path)/\(name)" }

    /// The names of what is in it.
    package var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }

    package func write(_ name: String, _ text: String) throws { try write(name, Array(text.utf8)) }

    package func write(_ name: String, _ bytes: [UInt8]) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: file(name)))
    }

    package func makeFolder(_ name: String) throws {
        try FileManager.default.createDirectory(atPath: file(name), withIntermediateDirectories: false)
    }

    /// A file of bytes i modulo 251, as ``ScriptedAnswer`` sends.
    package func filled(_ name: String, _ count: Int) throws -> String {
        try write(name, (0..<count).map { UInt8($0 % 251) })
        return file(name)
    }

    /// A file of zeros that takes no room.
    package func sparse(_ name: String, _ count: Int64) -> String {
        let descriptor = open(file(name), O_WRONLY | O_CREAT, 0o600)
        ftruncate(descriptor, off_t(count))
        close(descriptor)
        return file(name)
    }

    /// The bytes of a file; none when it is not there.
    package func bytes(_ name: String) -> [UInt8] {
        (try? Data(contentsOf: URL(fileURLWithPath: file(name)))).map { Array($0) } ?? []
    }

    /// The text of a file; nil when it is not there.
    package func read(_ name: String) -> String? { Self.text(of: file(name)) }

    package static func text(of path: String) -> String? {
        (try? Data(contentsOf: URL(fileURLWithPath: path))).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The size of a file in bytes; -1 when it is not there.
    package func size(_ name: String) -> Int64 {
        var status = stat()
        return stat(file(name), &status) == 0 ? Int64(status.st_size) : -1
    }

    package func delete(_ name: String) { try? FileManager.default.removeItem(atPath: file(name)) }
}
