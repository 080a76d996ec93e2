package import CLibrary

/// The place of a Unix socket's name (unix(7)), by which owners of jobs and the background owner are reached.
///
/// A socket's path has room for 107 bytes: in a deeper folder the name is reached through `/proc/self/fd/N`, a
/// descriptor of the folder.
package struct SocketName: Sendable {
    private let folder: String
    private let name: String

    /// - Parameter folder: absolute.
    package init(_ name: String, in folder: String) {
        self.folder = folder
        self.name = name
    }

    package var path: String { "\(folder)/\(name)" }

    /// Calls bind(2), connect(2) or sendto(2) with the address; -1 with `errno` set when there is none, else what the
    /// call returned.
    package func withAddress(_ call: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        if let result = Self.withAddress(path, call) { return result }
        #if os(Linux)
            let parent = CLibrary.open(folder, Self.openPath | O_DIRECTORY | O_CLOEXEC)
            guard parent >= 0 else { return -1 }
            defer { close(parent) }
            if let result = Self.withAddress("/proc/self/fd/\(parent)/\(name)", call) { return result }
        #endif
        errno = ENAMETOOLONG
        return -1
    }

    /// O_PATH of open(2), which Swift does not import: the folder is only named, not read.
    private static let openPath: Int32 = 0o10_000_000

    /// Nil when the path does not fit.
    private static func withAddress(_ path: String, _ call: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32? {
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
                call($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
