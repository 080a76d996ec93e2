import CLibrary

/// The datagram socket on which an owner is woken (unix(7)). A datagram is an ``OwnerMessage``; what is wanted of a
/// job stands in its row.
final class OwnerSocket: Sendable {
    private let descriptor: Int32
    private let name: SocketName

    /// Makes the socket in the folder; nil, with errno, when that fails.
    init?(folder: String, name: String) {
        let descriptor = Self.open()
        guard descriptor >= 0 else { return nil }
        let name = SocketName(name, in: folder)
        unlink(name.path)
        guard name.withAddress({ bind(descriptor, $0, $1) }) == 0 else {
            let code = errno
            close(descriptor)
            errno = code
            return nil
        }
        _ = chmod(name.path, 0o600)
        self.name = name
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// The longest datagram; progress takes a few hundred bytes. A longer one is cut, and means nothing then.
    private static let longest = 4096

    /// Waits for a datagram; nil once the socket was shut.
    func receive() -> String? {
        while true {
            var count = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: Self.longest) { buffer, initialized in
                count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
                initialized = max(0, count)
            }
            if count > 0 { return String(decoding: bytes, as: UTF8.self) }
            guard count < 0, errno == EINTR else { return nil }
        }
    }

    /// True if a datagram is there already.
    var hasMore: Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) > 0
    }

    /// Ends ``receive()`` and removes the name.
    func shut() {
        unlink(name.path)
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// Wakes the owner of that socket; false when nobody reads it. A queue that is full holds wake-ups enough.
    static func send(_ text: String, folder: String, name: String) -> Bool {
        let descriptor = open()
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        let sent = SocketName(name, in: folder).withAddress { address, length in
            Int32(truncatingIfNeeded: sendto(descriptor, bytes, bytes.count, Int32(MSG_DONTWAIT), address, length))
        }
        return sent >= 0 || errno == EAGAIN || errno == ENOBUFS
    }

    private static func open() -> Int32 {
        #if os(Linux)
            socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        #else
            socket(AF_UNIX, SOCK_DGRAM, 0)
        #endif
    }
}
