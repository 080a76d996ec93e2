import CLibrary

/// Paths as text, made absolute without following links.
package enum AbsolutePath {
    /// The absolute form of a path relative to a folder, `.` and empty parts taken out.
    package static func of(_ path: String, in folder: String) -> String {
        let whole = path.hasPrefix("/") ? path : "\(folder)/\(path)"
        let parts = whole.split(separator: "/").filter { $0 != "." }
        let tail = path.hasSuffix("/") && !parts.isEmpty ? "/" : ""
        return "/" + parts.joined(separator: "/") + tail
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

    private static var currentDirectory: String? {
        guard let pointer = getcwd(nil, 0) else { return nil }
        defer { free(pointer) }
        return String(cString: pointer)
    }
}
