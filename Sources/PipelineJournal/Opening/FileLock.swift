import CLibrary

/// An exclusive lock on a file of our own, held by an open file description (fcntl_locking(2), "Open file description
/// locks").
///
/// The kernel lets it go when the process ends, however it ends. Unlike a POSIX lock it also excludes two holders in
/// one process, and closing another descriptor of the file does not drop it. The descriptor is closed in children that
/// run another program.
struct FileLock: ~Copyable {
    private let descriptor: Int32

    /// Opens the file, made if need be, and takes the lock; nil when another holds it (errno is EAGAIN) or the file
    /// can't be opened.
    init?(_ path: String) {
        while true {
            let opened = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
            guard opened >= 0 else { return nil }
            _ = fchmod(opened, 0o600)
            guard Self.call(opened, Self.set) != nil else {
                let code = errno
                close(opened)
                errno = code == EACCES ? EAGAIN : code
                return nil
            }
            // Whoever tidied up may have removed the file between opening and locking: a lock on a file without a name
            // keeps nobody away.
            if Self.isSameFile(opened, path) {
                descriptor = opened
                return
            }
            close(opened)
        }
    }

    deinit { close(descriptor) }

    /// Returns whether somebody, in this process or another, holds the lock of that file.
    static func isHeld(_ path: String) -> Bool {
        let opened = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC)
        guard opened >= 0 else { return false }
        defer { close(opened) }
        guard let found = call(opened, query) else { return true }
        return found.l_type != Int16(F_UNLCK)
    }

    private static func isSameFile(_ descriptor: Int32, _ path: String) -> Bool {
        var mine = stat()
        var named = stat()
        guard fstat(descriptor, &mine) == 0, lstat(path, &named) == 0 else { return false }
        return mine.st_ino == named.st_ino && mine.st_dev == named.st_dev
    }

    private static func call(_ descriptor: Int32, _ command: Int32) -> flock? {
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        let result = withUnsafeMutablePointer(to: &lock) { pointer in
            fcntl(descriptor, command, UnsafeMutableRawPointer(pointer))
        }
        return result == 0 ? lock : nil
    }

    #if os(Linux)
        private static let query: Int32 = 36
        private static let set: Int32 = 37
    #else
        private static let query = F_OFD_GETLK
        private static let set = F_OFD_SETLK
    #endif
}
