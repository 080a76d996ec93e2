import CLibrary
import PipelineCore
import PipelineHTTP
import Synchronization

/// `TO.part`: a file that is being received, locked against others and never visible under its final name before it is
/// whole.
///
/// The lock (flock(2)) belongs to the open file and ends with it, also at a crash. A second one (``PartLabel``) says whose
/// it is: a process that was stopped in the middle of a step holds it for as long as it is stopped, and whoever owns the
/// step by then takes what is there over into a file of its own and gives that the name. What the former owner still
/// writes goes to a file without a name, and it finds out before it gives a name to anything.
///
/// Transfers that use the descriptor at one time write to different stretches; whoever made the object closes it after
/// the exchanges that write to it have ended.
final class PartFile: Sendable {
    let path: String
    let descriptor: Int32
    /// The answer to whether the disk did not take something that was written.
    private let hasLost = Mutex(false)

    /// The reason why a part can't be opened.
    enum OpenFailure: Error, Sendable {
        /// Somebody else holds its lock; who, if that is told.
        case busy(PartLabel?)
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
    func unlock() {
        PartLabel.remove(from: descriptor)
        flock(descriptor, LOCK_UN)
    }

    /// Opens and locks it; made if missing, with its folder. Never follows a symbolic link.
    ///
    /// - Parameters:
    ///   - isFresh: what is there belongs to another try and is replaced by a new, empty file, so
    ///     that its owner can't take our bytes for its own. An empty file with another name is a result.
    ///   - creates: false to have a missing file be a failure.
    ///   - label: whose it is to be; a file that is locked for the same one is taken over. Nil for nobody's.
    static func open(
        _ path: String, isFresh: Bool, creates: Bool = true, label: PartLabel? = nil
    ) throws(OpenFailure) -> PartFile {
        do {
            if creates { try Folder.make(Folder.containing(path)) }
        } catch {
            throw .file(error)
        }
        while true {
            let part: PartFile
            do throws(OpenFailure) {
                let flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
                part = try openOnce(path, flags | (creates ? O_CREAT : 0), label)
            } catch {
                guard case .busy(let holder?) = error, holder == label else { throw error }
                try isFresh ? removeName(path) : takeOver(path)
                continue
            }
            guard part.isStillThere else { continue }
            guard isFresh else { return part }
            if part.size == 0, !part.hasOtherNames {
                label?.put(on: part.descriptor)
                return part
            }
            try removeName(path)
        }
    }

    private static func removeName(_ path: String) throws(OpenFailure) {
        guard unlink(path) == 0 || errno == ENOENT else { throw .file(.last("replace", path)) }
    }

    /// Puts a copy in the place of a part that a stopped process of the same step holds open. Its holes stay holes.
    private static func takeOver(_ path: String) throws(OpenFailure) {
        do throws(FileFailure) {
            let source = Self.descriptor(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
            guard source >= 0 else { throw .last("read", path) }
            defer { close(source) }
            let copy = path + ".copy"
            unlink(copy)
            let target = Self.descriptor(copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC)
            guard target >= 0 else { throw .last("write", copy) }
            defer { close(target) }
            do throws(FileFailure) {
                try self.copy(source, path, to: target, copy)
                guard CLibrary.rename(copy, path) == 0 else { throw .last("rename \(copy) to", path) }
            } catch {
                unlink(copy)
                throw error
            }
        } catch {
            throw .file(error)
        }
    }

    private static func copy(
        _ source: Int32, _ path: String, to target: Int32, _ copy: String
    ) throws(FileFailure) {
        var position: Int64 = 0
        var failure: FileFailure?
        _ = try FileDigest.read(source, path, 0..<Int64.max) { bytes in
            if failure == nil, bytes.contains(where: { $0 != 0 }),
                pwrite(target, bytes.baseAddress!, bytes.count, off_t(position)) != bytes.count
            {
                failure = .last("write", copy)
            }
            position += Int64(bytes.count)
        }
        if let failure { throw failure }
        guard ftruncate(target, off_t(position)) == 0 else { throw .last("write", copy) }
    }

    private static func descriptor(_ path: String, _ flags: Int32) -> Int32 {
        CLibrary.open(path, flags, 0o666)
    }

    private static func openOnce(
        _ path: String, _ flags: Int32, _ label: PartLabel?
    ) throws(OpenFailure) -> PartFile {
        let descriptor = descriptor(path, flags)
        guard descriptor >= 0 else { throw .file(.last("write", path)) }
        let part = PartFile(path: path, descriptor: descriptor)
        guard DescriptorBudget.allows(descriptor) else {
            throw .file(FileFailure(action: "write", path: path, code: EMFILE))
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw .file(FileFailure(action: "write", path: path, code: EINVAL))
        }
        if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            // A file system without locks is used without them.
            guard errno != EWOULDBLOCK else { throw .busy(PartLabel.holder(of: descriptor)) }
        }
        label?.lock(descriptor)
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

    /// True if the file stands under another name too.
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

    /// The result of the wish for the final name.
    enum Renaming: Sendable { case done, nameTaken }

    /// Gives the file its final name, durably; the part's name is gone then.
    ///
    /// - Parameter replaces: whether a file of that name gives way; otherwise the answer is `nameTaken`. A crash before
    ///   the part's own name is removed can leave two names of one whole file.
    func rename(to target: String, replaces: Bool) throws(FileFailure) -> Renaming {
        // Whoever took the step over has its own file there.
        guard isStillThere else { throw FileFailure(action: "rename", path: path, code: ENOENT) }
        let change = NameChange(from: path, to: target, isFolder: false)
        guard try change.perform(replaces: replaces) == .done else { return .nameTaken }
        // Of two names of one file, which a crash can leave, rename(2) removes neither.
        if isStillThere { unlink(path) }
        try Folder.sync(Folder.containing(target))
        return .done
    }

    /// Removes the part's name, unless it is another file's by now.
    func remove() { if isStillThere { unlink(path) } }
}
