/// The rules for the names in an archive, which whoever made it chose: nothing may lead out of the target. They are read
/// by scalars, as the file system does: a mark behind a slash makes one Character of both, which is no slash.
enum EntryName {
    /// The components of a name, without `.`; a sentence when it is not safe.
    static func components(_ name: String) -> Result<[String], Reason> {
        if name.utf8.first == UInt8(ascii: "/") { return .failure(Reason("its path is absolute")) }
        if name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
            return .failure(Reason("its name has control characters in it"))
        }
        let components = parts(of: name)
        if components.contains("..") { return .failure(Reason("its path leads out of the folder with '..'")) }
        if components.contains(where: { $0.utf8.count > 255 }) || components.count > 100 {
            return .failure(Reason("its path is too long"))
        }
        return .success(components)
    }

    /// Returns why a symbolic link in a folder of that depth is not safe; nil when it stays inside.
    ///
    /// `..` may stand at the beginning only: there it is resolved from a real folder of the archive, and each other
    /// component descends into a folder or through a link for which the same holds.
    static func fault(ofLinkTo target: String, depth: Int) -> Reason? {
        if target.utf8.first == UInt8(ascii: "/") { return Reason("it is a symbolic link to an absolute path") }
        let components = parts(of: target)
        let rising = components.prefix { $0 == ".." }.count
        guard rising <= depth, !components.dropFirst(rising).contains("..") else {
            return Reason("it is a symbolic link that can lead out of the folder")
        }
        return nil
    }

    private static func parts(of path: String) -> [String] {
        path.unicodeScalars.split(separator: "/").map { String($0) }.filter { $0 != "." }
    }

    /// The reason why an entry is refused, to follow its name.
    struct Reason: Error, Sendable, Hashable {
        let text: String
        init(_ text: String) { self.text = text }
    }
}
