import CLibrary
import PipelineCore

/// A folder with all that is in it; symbolic links are never followed.
enum FolderTree {
    /// Removes a file or a folder with all that is in it, as far as that is allowed.
    static func remove(_ path: String) {
        if unlink(path) == 0 || errno == ENOENT { return }
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        if descriptor >= 0 { removeContent(of: descriptor) }
        rmdir(path)
    }

    private static func removeContent(of descriptor: Int32) {
        guard let folder = fdopendir(descriptor) else {
            close(descriptor)
            return
        }
        defer { closedir(folder) }
        for name in names(folder) where unlinkat(descriptor, name, 0) != 0 {
            let inner = openat(descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            if inner >= 0 { removeContent(of: inner) }
            unlinkat(descriptor, name, AT_REMOVEDIR)
        }
    }

    /// Returns whether a folder is there and has nothing in it.
    static func isEmptyFolder(_ path: String) -> Bool {
        guard let folder = opendir(path) else { return false }
        defer { closedir(folder) }
        return names(folder).isEmpty
    }

    /// Returns whether a folder is there, or a link to one.
    static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// The regular files, with absolute paths, in the order of these; read whole for their digests.
    static func files(in path: String) throws(FileFailure) -> [WrittenFile] {
        var found: [WrittenFile] = []
        try visit(path) { (path, status) throws(FileFailure) in
            guard status.st_mode & S_IFMT == S_IFREG else { return }
            let digest = try FileDigest.sha256(of: path)
            found.append(WrittenFile(path: path, bytes: Int64(status.st_size), sha256: digest))
        }
        return found.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    }

    /// Makes each file and folder durable by itself, where the system can't do it at once.
    static func sync(_ path: String) throws(FileFailure) {
        try visit(path) { (path, status) throws(FileFailure) in
            guard status.st_mode & S_IFMT == S_IFREG || status.st_mode & S_IFMT == S_IFDIR else { return }
            try Folder.sync(path)
        }
    }

    /// Calls for the path itself and all below it, folders after their content.
    private static func visit(
        _ path: String, _ body: (String, stat) throws(FileFailure) -> Void
    ) throws(FileFailure) {
        var status = stat()
        guard lstat(path, &status) == 0 else { throw .last("read", path) }
        if status.st_mode & S_IFMT == S_IFDIR {
            guard let folder = opendir(path) else { throw .last("read the folder", path) }
            let inner = names(folder)
            closedir(folder)
            for name in inner { try visit("\(path)/\(name)", body) }
        }
        try body(path, status)
    }

    private static func names(_ folder: OpaquePointer) -> [String] {
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}
