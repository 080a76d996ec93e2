import CLibrary
import CFiles

/// Gives something that is whole its final name, in one step.
struct NameChange {
    let from: String
    let to: String
    let isFolder: Bool

    /// - Parameter replaces: whether what has the name gives way. An empty folder always does.
    func perform(replaces: Bool) throws(FileFailure) -> PartFile.Renaming {
        if !isFolder, !replaces { return try link() }
        if rename(from, to) == 0 { return .done }
        guard [EEXIST, ENOTEMPTY, ENOTDIR].contains(errno) else { throw .last("rename \(from) to", to) }
        if !replaces { return .nameTaken }
        // The old one is under the new one's former name then, and goes.
        if files_exchange(from, to) != 0 {
            // File systems that can't: there is a moment without either.
            let aside = "\(from).old"
            guard rename(to, aside) == 0, rename(from, to) == 0 else { throw .last("rename \(from) to", to) }
            FolderTree.remove(aside)
        }
        FolderTree.remove(from)
        return .done
    }

    /// A hard link fails when the name is taken, so that there is no moment between looking and naming.
    private func link() throws(FileFailure) -> PartFile.Renaming {
        if CLibrary.link(from, to) == 0 {
            unlink(from)
            return .done
        }
        if errno == EEXIST { return .nameTaken }
        // File systems without links, such as FAT: look, then rename.
        guard errno == EPERM || errno == ENOTSUP || errno == ENOSYS || errno == EMLINK else {
            throw .last("rename \(from) to", to)
        }
        if access(to, F_OK) == 0 { return .nameTaken }
        guard rename(from, to) == 0 else { throw .last("rename \(from) to", to) }
        return .done
    }
}

/// The identity of a file or folder, whatever it is called: a rename keeps it.
struct FileIdentity: Codable, Sendable, Hashable {
    let device: UInt64
    let inode: UInt64

    /// Nil when nothing is there.
    init?(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        device = UInt64(truncatingIfNeeded: status.st_dev)
        inode = UInt64(truncatingIfNeeded: status.st_ino)
    }
}
