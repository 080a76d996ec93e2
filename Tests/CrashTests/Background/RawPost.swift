import Foundation

/// One HTTP request on a connection of its own, for what a push's sender does.
enum RawPost {
    /// The status of the answer; nil when there was none.
    static func send(
        _ method: String = "POST", to path: String, port: UInt16, headers: [String: String] = [:], body: [UInt8]
    ) -> Int? {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard code == 0 else { return nil }
        let fields = headers.map { "\($0.key): \($0.value)\r\n" }.joined()
        let head =
            "\(method) \(path) HTTP/1.1\r\nHost: push.example\r\nContent-Length: \(body.count)\r\n"
            + "Connection: close\r\n\(fields)\r\n"
        var rest = (Array(head.utf8) + body)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            // The other end may have answered and gone before it had all.
            if count <= 0 { break }
            rest = rest.dropFirst(count)
        }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count > 12 else { return nil }
        return Int(String(decoding: buffer[9..<12], as: UTF8.self))
    }
}
