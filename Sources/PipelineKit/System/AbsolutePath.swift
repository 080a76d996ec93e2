import CLibrary

/// Paths as text, made absolute without following links, but where `..` comes after them.
package enum AbsolutePath {
    /// The absolute form of a path relative to a folder, `.` and empty parts taken out.
    ///
    /// What stands before a `..` is followed if it is there: a path that leads through a folder and out of it again means
    /// another place once that folder has moved.
    package static func of(_ path: String, in folder: String) -> String {
        let parts = parts(of: path, in: folder)
        guard let last = parts.lastIndex(of: ".."), let real = followed(text(parts[...last], like: ".")) else {
            return text(parts, like: path)
        }
        let whole: [Substring] = real.split(separator: "/") + parts[(last + 1)...]
        return text(whole, like: path)
    }

    /// The absolute form of a pattern of files: what stands before a `..` in it is no path that could be followed.
    package static func ofPattern(_ pattern: String, in folder: String) -> String {
        text(parts(of: pattern, in: folder), like: pattern)
    }

    private static func parts(of path: String, in folder: String) -> [Substring] {
        (path.hasPrefix("/") ? path : "\(folder)/\(path)").split(separator: "/").filter { $0 != "." }
    }

    /// The path of these parts, with a slash at its end if another has one.
    private static func text(_ parts: some Collection<Substring>, like path: String) -> String {
        "/" + parts.joined(separator: "/") + (path.hasSuffix("/") && !parts.isEmpty ? "/" : "")
    }

    /// The path without links and `..`; nil for what is not there, or is no text.
    private static func followed(_ path: String) -> String? {
        guard let pointer = realpath(path, nil) else { return nil }
        defer { free(pointer) }
        return String(validatingCString: pointer)
    }

    /// The folder that a path stands in.
    package static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    /// The working directory; `/` when it was removed.
    package static var workingDirectory: String { currentDirectory ?? "/" }

    /// False when the working directory was removed.
    package static var isWorkingDirectoryThere: Bool { currentDirectory != nil }

    /// False when a name in the working directory's path is no text in UTF-8, and nothing could be said of what is in it.
    package static var isWorkingDirectoryText: Bool {
        guard let pointer = getcwd(nil, 0) else { return true }
        defer { free(pointer) }
        return String(validatingCString: pointer) != nil
    }

    private static var currentDirectory: String? {
        guard let pointer = getcwd(nil, 0) else { return nil }
        defer { free(pointer) }
        return String(cString: pointer)
    }
}
