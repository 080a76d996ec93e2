import PipelineCore
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// `TO.part`: a file that is being received, locked against others and never visible under its final name before it is
/// whole.
///
/// The lock (flock(2)) belongs to the open file and ends with it, also at a crash. Transfers that
/// use the descriptor at one time write to different stretches; whoever made the object closes it after the exchanges
/// that write to it have ended.
final class PartFile: Sendable {
    let path: String
    let descriptor: Int32
    /// Whether the disk did not take something that was written.
    private let hasLost = Mutex(false)

    /// Why a part can't be opened.
    enum OpenFailure: Error, Sendable {
        /// Somebody else holds its lock.
        case busy
        case file(FileFailure)
    }

    /// The disk is too full, in bytes.
    struct LackOfRoom: Error, Sendable {
        let needed: Int64
        let free: Int64
    }

    private init(path: String, descriptor: Int32) {
        self.path = path
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Lets the lock go before the file is closed: whoever still holds it will not write any more.
    func unlock() { flock(descriptor, LOCK_UN) }

    /// Opens and locks it; made if missing, with its folder. Never follows a symbolic link.
    ///
    /// - Parameters:
    ///   - isFresh: what is there belongs to another try and is replaced by a new, empty file, so
    ///     that its owner can't take our bytes for its own. An empty file with another name is a result.
    ///   - creates: false to have a missing file be a failure.
    static func open(_ path: String, isFresh: Bool, creates: Bool = true) throws(OpenFailure) -> PartFile {
        do {
            if creates { try Folder.make(Folder.containing(path)) }
        } catch {
            throw .file(error)
        }
        while true {
            let part = try openOnce(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | (creates ? O_CREAT : 0))
            guard part.isStillThere else { continue }
            guard isFresh, part.size > 0 || part.hasOtherNames else { return part }
            guard unlink(path) == 0 || errno == ENOENT else { throw .file(.last("replace", path)) }
        }
    }

    private static func openOnce(_ path: String, _ flags: Int32) throws(OpenFailure) -> PartFile {
        #if canImport(Glibc)
            let descriptor = Glibc.open(path, flags, 0o666)
        #elseif canImport(Musl)
            let descriptor = Musl.open(path, flags, 0o666)
        #else
            let descriptor = Darwin.open(path, flags, 0o666)
        #endif
        guard descriptor >= 0 else { throw .file(.last("write", path)) }
        let part = PartFile(path: path, descriptor: descriptor)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw .file(FileFailure(action: "write", path: path, code: EINVAL))
        }
        if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            // A file system without locks is used without them.
            guard errno != EWOULDBLOCK else { throw .busy }
        }
        return part
    }

    /// Between opening and locking the former owner may have renamed or removed the file.
    private var isStillThere: Bool {
        var own = stat()
        var named = stat()
        return fstat(descriptor, &own) == 0 && lstat(path, &named) == 0
            && own.st_ino == named.st_ino && own.st_dev == named.st_dev
    }

    var size: Int64 {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Int64(status.st_size) : 0
    }

    /// Whether the file stands under another name too.
    var hasOtherNames: Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_nlink > 1
    }

    /// Cuts it off; room that was reserved is given back.
    func truncate(to size: Int64) throws(FileFailure) {
        guard ftruncate(descriptor, off_t(size)) == 0 else { throw .last("write", path) }
    }

    /// Sees to it that the disk has room for the file to grow to `size`, so that a full disk is known before the
    /// transfer and not in its middle, and nobody else takes the room meanwhile. The length stays that of what is there.
    ///
    /// - Returns: whether the room is taken; false where the file system can't do so.
    @discardableResult func reserve(_ size: Int64) throws(LackOfRoom) -> Bool {
        let held = self.size
        guard size > held else { return true }
        let free = Folder.freeSpace(Folder.containing(path))
        if let free, free < size - held { throw LackOfRoom(needed: size - held, free: free) }
        switch DiskSpace.reserve(descriptor, held..<size) {
        case .reserved: return true
        case .notOffered: return false
        case .lacking: break
        }
        // What was reserved before the disk was full is given back.
        _ = ftruncate(descriptor, off_t(held))
        throw LackOfRoom(needed: size - held, free: free ?? 0)
    }

    /// Returns when all bytes written so far are on the disk, and the length that reaches them (fdatasync(2)).
    func syncData() throws(FileFailure) {
        #if canImport(Darwin)
            let result = fcntl(descriptor, F_FULLFSYNC)
        #else
            let result = fdatasync(descriptor)
        #endif
        guard result == 0 else { throw loss() }
    }

    /// Returns when bytes and attributes are on the disk.
    func sync() throws(FileFailure) {
        guard fsync(descriptor) == 0 else { throw loss() }
    }

    private func loss() -> FileFailure {
        let failure = FileFailure.last("save", path)
        hasLost.withLock { $0 = true }
        return failure
    }

    /// Cuts off what lies behind the bytes that are on the disk for certain, if the disk did not take others: the kernel
    /// still has these and takes them for saved (fsync(2), on EIO), so that a restart would read them, and find them good,
    /// until the power fails.
    func forgetLost(behind saved: Int64) {
        if hasLost.withLock(\.self), size > saved { ftruncate(descriptor, off_t(saved)) }
    }

    /// Reads a stretch, piece by piece; false when the file ends before it does.
    func read(_ stretch: Range<Int64>, _ take: (UnsafeRawBufferPointer) -> Void) throws(FileFailure) -> Bool {
        try FileDigest.read(descriptor, path, stretch, take) == stretch.upperBound - stretch.lowerBound
    }

    /// What became of the wish for the final name.
    enum Renaming: Sendable { case done, nameTaken }

    /// Gives the file its final name, durably; the part's name is gone then.
    ///
    /// - Parameter replaces: whether a file of that name gives way; otherwise the answer is `nameTaken`. A hard link
    ///   fails when the name is taken, so that there is no moment between looking and naming; a crash before the part's
    ///   own name is removed leaves two names of one whole file.
    func rename(to target: String, replaces: Bool) throws(FileFailure) -> Renaming {
        if !replaces {
            if link(path, target) == 0 {
                unlink(path)
                try Folder.sync(Folder.containing(target))
                return .done
            }
            if errno == EEXIST { return .nameTaken }
            // File systems without links, such as FAT: look, then rename.
            guard errno == EPERM || errno == ENOTSUP || errno == ENOSYS || errno == EMLINK else {
                throw .last("rename \(path) to", target)
            }
            if access(target, F_OK) == 0 { return .nameTaken }
        }
        guard systemRename(path, target) == 0 else { throw .last("rename \(path) to", target) }
        // Of two names of one file, which a crash can leave, rename(2) removes neither.
        if isStillThere { unlink(path) }
        try Folder.sync(Folder.containing(target))
        return .done
    }

    /// Removes the part's name.
    func remove() { unlink(path) }

    private func systemRename(_ old: String, _ new: String) -> Int32 {
        #if canImport(Glibc)
            Glibc.rename(old, new)
        #elseif canImport(Musl)
            Musl.rename(old, new)
        #else
            Darwin.rename(old, new)
        #endif
    }
}
