import CLibrary
package import JSONPath

/// One end of a connection to the background owner: a JSON object on each line.
///
/// Its calls block for at most ten seconds; used by one thread at a time.
package struct ControlChannel: ~Copyable {
    private let descriptor: Int32
    private var rest: [UInt8] = []
    /// The longest line that is taken: secrets and inputs are small.
    static let longestLine = 16 << 20

    /// Takes over the descriptor.
    package init(descriptor: Int32) {
        self.descriptor = descriptor
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
    }

    deinit { close(descriptor) }

    /// The user of the process at the other end (unix(7), SO_PEERCRED); nil where the system does not say.
    package var peer: UInt32? {
        // `struct ucred`, which Swift does not import: process, user, group.
        var credentials: (Int32, UInt32, UInt32) = (0, 0, 0)
        var length = socklen_t(MemoryLayout.size(ofValue: credentials))
        guard getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0 else { return nil }
        return credentials.1
    }

    /// True if the other end belongs to the user of this process.
    package var isOfThisUser: Bool { peer == geteuid() }

    /// Writes a message; false when the other end has gone or takes nothing.
    package func send(_ message: JSON) -> Bool {
        var line: [UInt8] = []
        message.write(into: &line)
        line.append(UInt8(ascii: "\n"))
        var sent = 0
        while sent < line.count {
            let count = line[sent...].withUnsafeBytes { bytes in
                CLibrary.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    /// The next message; nil when the other end has closed, says nothing in time, or speaks no JSON.
    package mutating func receive() -> JSON? {
        while true {
            if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                let line = Array(rest[..<end])
                rest.removeSubrange(...end)
                return try? JSON.parseKept(line)
            }
            guard rest.count < Self.longestLine, fill() else { return nil }
        }
    }

    private mutating func fill() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest += buffer[..<count]
            return true
        }
    }
}
