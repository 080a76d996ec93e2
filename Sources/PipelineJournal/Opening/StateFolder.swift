import CLibrary
import PipelineCore

/// The folder that holds all durable state: its paths, and the rules that keep it private.
///
/// It belongs to the user who runs the program, is no symbolic link, and nobody else can look inside. The database's
/// file is never opened here once it exists: closing any descriptor of it would drop SQLite's POSIX locks of the whole
/// process (sqlite.org/howtocorrupt.html, section 2.2).
struct StateFolder: Sendable {
    /// Absolute, without a slash at the end: with one, a symbolic link would be followed unseen.
    let path: String

    /// The time for which a connection waits for another process that is writing.
    let busyTimeout: Duration

    init(_ path: String, busyTimeout: Duration = .seconds(10)) {
        self.busyTimeout = busyTimeout
        var path = path
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        if !path.hasPrefix("/"), let current = getcwd(nil, 0) {
            path = String(cString: current) + "/" + path
            free(current)
        }
        self.path = path
    }

    var database: String { path + "/journal.sqlite" }
    /// Held while a database is made or migrated.
    var openingLock: String { path + "/opening.lock" }
    /// Locks and sockets of owners.
    var owners: String { path + "/owners" }

    /// Returns whether a journal was ever made here.
    ///
    /// - Throws: a refusal when that can't be seen, as in a folder of another user: "no jobs" would be a lie.
    func hasDatabase() throws(JournalFailure) -> Bool {
        var status = stat()
        if lstat(database, &status) == 0 { return true }
        if errno == ENOTDIR { throw refusal("it is no folder") }
        guard errno == EACCES else { return false }
        if lstat(path, &status) == 0, status.st_uid != geteuid() {
            throw refusal("\(path) belongs to another user")
        }
        errno = EACCES
        throw systemRefusal("\(database) can't be looked for")
    }

    /// True if nothing was written to the database's file yet.
    var hasEmptyDatabase: Bool {
        var status = stat()
        return lstat(database, &status) == 0 && status.st_size == 0
    }

    /// Makes the folder if need be, with parents, and the empty database file; refuses what is not ours.
    func prepare() throws(JournalFailure) {
        try makeFolder(path)
        try prepareFile(database)
    }

    /// Makes the folder if need be, with parents, for what stays on a machine whose journal is elsewhere.
    func prepareWithoutDatabase() throws(JournalFailure) {
        try makeFolder(path)
        try checkFolder(path)
    }

    /// Makes an empty database file in the folder if need be; refuses a folder or files that are not ours.
    func prepareFile(_ file: String) throws(JournalFailure) {
        try checkFolder(path)
        try makeDatabaseFile(file)
        for suffix in ["", "-wal", "-shm"] { try checkFile(file + suffix) }
    }

    /// Makes the folder of owners' locks and sockets.
    func prepareOwners() throws(JournalFailure) {
        try makeFolder(owners)
        try checkFolder(owners)
    }

    func refusal(_ reason: String) -> JournalFailure { .notWritable(folder: path, reason: reason) }

    func systemRefusal(_ what: String) -> JournalFailure {
        let code = errno
        if code == ENOSPC || code == EDQUOT { return .full(folder: path) }
        return refusal("\(what): \(String(cString: strerror(code)).lowercased())")
    }
}

extension StateFolder {
    private func makeFolder(_ folder: String) throws(JournalFailure) {
        var status = stat()
        if lstat(folder, &status) == 0 { return }
        let parent = Self.parent(of: folder)
        if parent != folder, access(parent, F_OK) != 0 { try makeFolder(parent) }
        guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw systemRefusal("\(folder) can't be made") }
        // A umask can take bits away from mkdir's mode, never from chmod's.
        _ = chmod(folder, 0o700)
        syncFolder(parent)
    }

    /// A new name survives a power cut once its folder is on disk.
    func syncFolder(_ folder: String) {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }

    private func makeDatabaseFile(_ file: String) throws(JournalFailure) {
        let descriptor = open(file, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        if descriptor < 0, errno == EEXIST { return }
        guard descriptor >= 0 else { throw systemRefusal("\(file) can't be made") }
        _ = fchmod(descriptor, 0o600)
        close(descriptor)
        syncFolder(path)
    }

    private func checkFolder(_ folder: String) throws(JournalFailure) {
        var status = stat()
        guard lstat(folder, &status) == 0 else { throw systemRefusal("\(folder) can't be read") }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: break
        case S_IFLNK: throw refusal("\(folder) is a symbolic link")
        default: throw refusal("\(folder) is not a folder")
        }
        guard status.st_uid == geteuid() else { throw refusal("\(folder) belongs to another user") }
        guard status.st_mode & 0o077 != 0 else { return }
        // A folder that only looks like ours, e.g. a home folder named by mistake, is not closed to others by us.
        let isKnown = try hasDatabase()
        guard isKnown || folder != path else {
            throw refusal("\(folder) is open to other users; choose a new folder, or `chmod 700` it")
        }
        guard chmod(folder, 0o700) == 0 else { throw systemRefusal("\(folder) can't be made private") }
    }

    private func checkFile(_ file: String) throws(JournalFailure) {
        var status = stat()
        guard lstat(file, &status) == 0 else { return }
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFLNK: throw refusal("\(file) is a symbolic link")
        default: throw refusal("\(file) is not a file")
        }
        guard status.st_uid == geteuid() else { throw refusal("\(file) belongs to another user") }
        guard status.st_mode & 0o077 != 0 else { return }
        guard chmod(file, 0o600) == 0 else { throw systemRefusal("\(file) can't be made private") }
    }

    static func parent(of folder: String) -> String {
        guard let slash = folder.lastIndex(of: "/") else { return "." }
        return slash == folder.startIndex ? "/" : String(folder[..<slash])
    }
}
