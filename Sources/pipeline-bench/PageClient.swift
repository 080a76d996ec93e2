import CLibrary

/// Asks for pages as a program does: with a token, a connection each.
struct PageClient {
    let port: Int
    let token: String

    /// A connection that stays open.
    final class Stream {
        fileprivate let descriptor: Int32
        fileprivate init(_ descriptor: Int32) { self.descriptor = descriptor }
        deinit { close(descriptor) }

        /// Returns once an event says that jobs changed.
        func waitForChange() throws {
            var buffer = [UInt8](repeating: 0, count: 65_536)
            var seen = ""
            // Chunks end with a line of their own after the event's.
            while seen.firstRange(of: "event: change").map({ !seen[$0.upperBound...].contains("\n\n") }) ?? true {
                let count = recv(descriptor, &buffer, buffer.count, 0)
                guard count > 0 else { throw BenchFailure(end: "the stream of changes ended") }
                seen += String(decoding: buffer[..<count], as: UTF8.self)
            }
        }
    }

    /// Reads a page to its end, and returns its size in bytes.
    func get(_ target: String) throws -> Int {
        let stream = try stream(target)
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        var (size, first) = (0, true)
        while case let count = recv(stream.descriptor, &buffer, buffer.count, 0), count > 0 {
            if first, !String(decoding: buffer.prefix(12), as: UTF8.self).hasSuffix(" 200") {
                throw BenchFailure(end: "\(target): \(String(decoding: buffer.prefix(200), as: UTF8.self))")
            }
            first = false
            size += count
        }
        return size
    }

    /// Sends the request; what is answered stays to be read.
    func stream(_ target: String) throws -> Stream {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let stream = Stream(descriptor)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard code == 0 else { throw BenchFailure(end: "nobody listens on port \(port)") }
        let request = """
            GET \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nAuthorization: Bearer \(token)\r\nConnection: close\r\n\r\n
            """
        let bytes = Array(request.utf8)
        guard send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
            throw BenchFailure(end: "the request for \(target) was not taken")
        }
        return stream
    }
}
