#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A folder of its own with texts; it goes away with the value.
final class TemporaryFolder {
    struct Failure: Error { let code: Int32 }

    private let folder = TransferFolder()

    var path: String { folder.path }
    /// The names of what is in it.
    var names: [String] { folder.names }

    func write(_ name: String, _ text: String) throws { try write(name, Array(text.utf8)) }

    func write(_ name: String, _ bytes: [UInt8]) throws {
        let path = folder.write(name, bytes)
        guard access(path, F_OK) == 0 else { throw Failure(code: errno) }
    }

    func makeFolder(_ name: String) throws {
        guard mkdir("\(path)/\(name)", 0o700) == 0 else { throw Failure(code: errno) }
    }

    /// The text of a file; nil when there is none.
    func read(_ name: String) -> String? { folder.read(name).map { String(decoding: $0, as: UTF8.self) } }

    static func text(of path: String) -> String? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        while case let byte = fgetc(file), byte != EOF { bytes.append(UInt8(byte)) }
        return String(decoding: bytes, as: UTF8.self)
    }

    func delete(_ name: String) { unlink("\(path)/\(name)") }
}
