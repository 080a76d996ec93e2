#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The datagram socket on which an owner is woken (unix(7)). A datagram holds the id of the job; what is wanted stands
/// in the job's row.
///
/// A socket's path has room for 107 bytes: in a deeper folder the name is reached through `/proc/self/fd/N`, a
/// descriptor of the folder.
final class OwnerSocket: Sendable {
    private let descriptor: Int32
    private let path: String

    /// Makes the socket in the folder; nil, with errno, when that fails.
    init?(folder: String, name: String) {
        let descriptor = Self.open()
        guard descriptor >= 0 else { return nil }
        path = folder + "/" + name
        unlink(path)
        guard Self.withAddress(folder, name, { bind(descriptor, $0, $1) }) == 0 else {
            let code = errno
            close(descriptor)
            errno = code
            return nil
        }
        _ = chmod(path, 0o600)
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Waits for a datagram; nil once the socket was shut.
    func receive() -> String? {
        while true {
            var count = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: 256) { buffer, initialized in
                count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
                initialized = max(0, count)
            }
            if count > 0 { return String(decoding: bytes, as: UTF8.self) }
            guard count < 0, errno == EINTR else { return nil }
        }
    }

    /// Ends ``receive()`` and removes the name.
    func shut() {
        unlink(path)
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// Wakes the owner of that socket; false when nobody reads it. A queue that is full holds wake-ups enough.
    static func send(_ text: String, folder: String, name: String) -> Bool {
        let descriptor = open()
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        let sent = withAddress(folder, name) { address, length in
            Int32(truncatingIfNeeded: sendto(descriptor, bytes, bytes.count, Int32(MSG_DONTWAIT), address, length))
        }
        return sent >= 0 || errno == EAGAIN || errno == ENOBUFS
    }

    /// O_PATH of open(2), which Swift does not import: the folder is only named, not read.
    private static let openPath: Int32 = 0o10_000_000

    private static func open() -> Int32 {
        #if os(Linux)
            socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        #else
            socket(AF_UNIX, SOCK_DGRAM, 0)
        #endif
    }

    private static func withAddress(
        _ folder: String, _ name: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        if let result = withAddress(folder + "/" + name, body) { return result }
        #if os(Linux)
            let parent = Glibc.open(folder, openPath | O_DIRECTORY | O_CLOEXEC)
            guard parent >= 0 else { return -1 }
            defer { close(parent) }
            if let result = withAddress("/proc/self/fd/\(parent)/\(name)", body) { return result }
        #endif
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
