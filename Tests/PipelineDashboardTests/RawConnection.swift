#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A connection whose bytes the test writes itself.
final class RawConnection: @unchecked Sendable {
    struct Refused: Error { let code: Int32 }

    private let descriptor: Int32
    private var pending: [UInt8] = []

    init(port: Int) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard code == 0 else { throw Refused(code: errno) }
    }

    deinit { close(descriptor) }

    func send(_ text: String) { send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            sent += count
        }
    }

    /// Says that nothing more is sent.
    func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Returns what comes until the other side ends.
    func rest() -> String {
        var bytes = pending
        while let piece = read() { bytes += piece }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns what comes up to the text, and with it; nil when the other side ends before.
    func text(through end: String) -> String? {
        while true {
            let text = String(decoding: pending, as: UTF8.self)
            if let range = text.firstRange(of: end) {
                let taken = text[..<range.upperBound]
                pending = Array(text[range.upperBound...].utf8)
                return String(taken)
            }
            guard let piece = read() else { return nil }
            pending += piece
        }
    }

    private func read() -> [UInt8]? {
        var piece = [UInt8](repeating: 0, count: 65536)
        let count = recv(descriptor, &piece, piece.count, 0)
        return count > 0 ? Array(piece[..<count]) : nil
    }
}
