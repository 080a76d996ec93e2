/// The parts of a path, as POSIX basename(1) and dirname(1) cut them.
enum PathText {
    /// The last component, without trailing slashes; `/` of the root, empty of an empty path.
    static func basename(_ path: String) -> String {
        let bytes = withoutTrailingSlashes(path)
        if bytes.isEmpty { return path.isEmpty ? "" : "/" }
        return text(bytes.suffix(from: bytes.lastIndex(of: slash).map { $0 + 1 } ?? 0))
    }

    /// Returns what stands before the last component; `.` when there is nothing.
    static func dirname(_ path: String) -> String {
        let bytes = withoutTrailingSlashes(path)
        if bytes.isEmpty { return path.isEmpty ? "." : "/" }
        guard var end = bytes.lastIndex(of: slash) else { return "." }
        while end > 0, bytes[end - 1] == slash { end -= 1 }
        return end == 0 ? "/" : text(bytes[..<end])
    }

    /// The last component up to its last dot; a dot at the start makes no extension.
    static func stem(_ path: String) -> String { halves(path).stem }

    /// Returns what follows the last dot of the last component, without the dot; empty when there is none.
    static func fileExtension(_ path: String) -> String { halves(path).extension }

    private static let slash = UInt8(ascii: "/")

    private static func halves(_ path: String) -> (stem: String, extension: String) {
        let name = Array(basename(path).utf8)
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > 0,
            name[..<dot].contains(where: { $0 != name[dot] })
        else { return (text(name[...]), "") }
        return (text(name[..<dot]), text(name[(dot + 1)...]))
    }

    private static func withoutTrailingSlashes(_ path: String) -> [UInt8] {
        var bytes = Array(path.utf8)
        while bytes.last == slash { bytes.removeLast() }
        return bytes
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
}
