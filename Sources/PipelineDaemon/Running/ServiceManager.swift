import CLibrary

/// The service manager that started this process, as sd_notify(3) and sd_listen_fds(3) describe it; without one
/// nothing is said.
struct ServiceManager: Sendable {
    private let socketPath: String?
    private let hasListener: Bool

    init(environment: [String: String]) {
        socketPath = environment["NOTIFY_SOCKET"].flatMap { $0.isEmpty ? nil : $0 }
        hasListener =
            environment["LISTEN_PID"] == "\(getpid())" && (environment["LISTEN_FDS"].flatMap { Int($0) } ?? 0) >= 1
    }

    /// The control socket that the manager listens on for us; the first descriptor that is passed is 3.
    var listener: Int32? { hasListener ? 3 : nil }

    /// Sends a state such as `READY=1`; false when there is no manager or it can't be reached.
    @discardableResult func tell(_ state: String) -> Bool {
        guard let socketPath, let first = socketPath.first, first == "/" || first == "@" else { return false }
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var name = Array(socketPath.utf8)
        // An abstract name begins with a zero byte and has no other at its end.
        if first == "@" { name[0] = 0 }
        let fits = withUnsafeMutableBytes(of: &address.sun_path) { room in
            guard name.count < room.count else { return false }
            room.copyBytes(from: name)
            return true
        }
        guard fits, let offset = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) else { return false }
        let length = socklen_t(offset + name.count + (first == "@" ? 0 : 1))
        let text = Array(state.utf8)
        let sent = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, text, text.count, Int32(MSG_NOSIGNAL), $0, length)
            }
        }
        return sent == text.count
    }
}
