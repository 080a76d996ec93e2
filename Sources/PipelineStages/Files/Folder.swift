import CLibrary

/// Folders of the disk.
enum Folder {
    /// The folder of a file, of an absolute path.
    static func containing(_ path: String) -> String {
        let folder = path[..<(path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex)]
        return folder.isEmpty ? "/" : String(folder)
    }

    /// Makes the folder and those above it that are missing.
    static func make(_ path: String) throws(FileFailure) {
        if mkdir(path, 0o777) == 0 || errno == EEXIST { return }
        guard errno == ENOENT, path != "/", path != "" else { throw .last("create the folder", path) }
        try make(containing(path))
        guard mkdir(path, 0o777) == 0 || errno == EEXIST else { throw .last("create the folder", path) }
    }

    /// Makes the names in a folder durable: without it a power cut can undo a rename (fsync(2)).
    static func sync(_ path: String) throws(FileFailure) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .last("open the folder", path) }
        defer { close(descriptor) }
        // Some file systems refuse it for folders; then there is nothing more that could be done.
        guard fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP else {
            throw .last("save the folder", path)
        }
    }

    /// Bytes that a user without privileges may still write there; nil when the system does not say.
    static func freeSpace(_ path: String) -> Int64? {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        return Int64(
            clamping: UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize)).partialValue)
    }
}
