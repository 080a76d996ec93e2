import Glibc

/// The control socket of a state folder's background owner (unix(7)): where its name stands, and how it is reached.
///
/// A socket's path has room for 107 bytes: in a deeper folder the name is reached through `/proc/self/fd/N`, a
/// descriptor of the folder.
public struct ControlAddress: Sendable {
    let folder: String
    static let name = "control.sock"

    /// - Parameter stateFolder: absolute.
    public init(stateFolder: String) { folder = stateFolder }

    /// Where the socket's name stands.
    public var path: String { "\(folder)/\(Self.name)" }

    /// A stream socket that is closed in programs that this one runs; nil with `errno` set.
    static func open() -> Int32? {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        return descriptor >= 0 ? descriptor : nil
    }

    /// A socket that listens under the name, which it takes over; nil with `errno` set. Only the caller who holds the
    /// folder's background lock may do this.
    public func listen() -> Int32? {
        guard let descriptor = Self.open() else { return nil }
        unlink(path)
        guard withAddress({ bind(descriptor, $0, $1) }) == 0, chmod(path, 0o600) == 0, Glibc.listen(descriptor, 64) == 0
        else {
            let code = errno
            close(descriptor)
            errno = code
            return nil
        }
        return descriptor
    }

    /// A connection to the background owner; nil with `errno` set when none listens.
    func connect() -> Int32? {
        guard let descriptor = Self.open() else { return nil }
        guard withAddress({ Glibc.connect(descriptor, $0, $1) }) == 0 else {
            let code = errno
            close(descriptor)
            errno = code
            return nil
        }
        return descriptor
    }

    private func withAddress(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        if let result = Self.withAddress(path, body) { return result }
        let parent = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard parent >= 0 else { return -1 }
        defer { close(parent) }
        if let result = Self.withAddress("/proc/self/fd/\(parent)/\(Self.name)", body) { return result }
        errno = ENAMETOOLONG
        return -1
    }

    /// Nil when the path does not fit.
    private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32? {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let fits = withUnsafeMutableBytes(of: &address.sun_path) { room in
            guard bytes.count < room.count else { return false }
            room.copyBytes(from: bytes)
            return true
        }
        guard fits else { return nil }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
