#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A folder of its own that goes away with the value.
final class TemporaryFolder {
    struct Failure: Error { let code: Int32 }

    let path: String

    init() throws {
        var template = Array("/tmp/pipeline-stages-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else { throw Failure(code: errno) }
        path = String(cString: made)
    }

    deinit { remove(path) }

    func write(_ name: String, _ text: String) throws {
        guard let file = fopen("\(path)/\(name)", "w") else { throw Failure(code: errno) }
        fputs(text, file)
        fclose(file)
    }

    func makeFolder(_ name: String) throws {
        guard mkdir("\(path)/\(name)", 0o700) == 0 else { throw Failure(code: errno) }
    }

    /// The text of a file; nil when there is none.
    func read(_ name: String) -> String? { Self.text(of: "\(path)/\(name)") }

    static func text(of path: String) -> String? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        while case let byte = fgetc(file), byte != EOF { bytes.append(UInt8(byte)) }
        return String(decoding: bytes, as: UTF8.self)
    }

    func delete(_ name: String) { unlink("\(path)/\(name)") }

    /// The names of what is in it.
    var names: [String] { Self.names(in: path) }

    private static func names(in path: String) -> [String] {
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

    private func remove(_ path: String) {
        for name in Self.names(in: path) where unlink("\(path)/\(name)") != 0 { remove("\(path)/\(name)") }
        rmdir(path)
    }
}
