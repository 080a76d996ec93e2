import CLibrary
package import NIOCore
import PipelineKit

/// The user who has the other end of a connection, as the kernel knows it (proc(5), `/proc/net/tcp`).
package enum PeerUser {
    /// TCP_ESTABLISHED. A socket that its process has closed counts as root's.
    private static let established = "01"

    /// Returns whether a process of our own user has the other end; false for one on another machine, and where there is no
    /// such kernel to ask.
    package static func isOwn(of channel: any Channel) -> Bool {
        guard let own = channel.localAddress.flatMap(text), let other = channel.remoteAddress.flatMap(text) else {
            return false
        }
        for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
            for line in (FileContent.text(table) ?? "").split(separator: "\n").dropFirst() {
                let fields = line.split(separator: " ")
                guard fields.count > 7, fields[3] == established, unmapped(fields[1]) == other,
                    unmapped(fields[2]) == own
                else { continue }
                return UInt32(fields[7]) == geteuid()
            }
        }
        return false
    }

    /// The address with its port as the tables write it.
    private static func text(_ address: SocketAddress) -> Substring? {
        guard let name = address.ipAddress, let port = address.port else { return nil }
        let isLong = name.contains(":")
        var bytes = [UInt8](repeating: 0, count: isLong ? 16 : 4)
        guard inet_pton(isLong ? AF_INET6 : AF_INET, name, &bytes) == 1 else { return nil }
        return unmapped("\(digits(of: bytes)):\(digits(port, count: 4))")
    }

    /// An address of IPv4 in that of IPv6 (RFC 4291, section 2.5.5.2) as the address alone.
    private static func unmapped(_ text: Substring) -> Substring {
        text.hasPrefix(mappedStart) ? text.dropFirst(mappedStart.count) : text
    }

    private static let mappedStart = digits(of: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF])

    /// Words of four bytes, each in the order of the machine.
    private static func digits(of bytes: [UInt8]) -> String {
        stride(from: 0, to: bytes.count, by: 4).map { place in
            let word = bytes[place..<place + 4].withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
            return digits(Int(word), count: 8)
        }.joined()
    }

    private static func digits(_ number: Int, count: Int) -> String {
        let text = String(number, radix: 16, uppercase: true)
        return String(repeating: "0", count: count - text.count) + text
    }
}
