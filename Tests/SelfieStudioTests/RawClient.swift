import Foundation

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A request as text, for a client that can do what no good client does: stop in the middle.
struct RawRequest: Sendable {
    var method: String
    var path: String
    var fields: [(String, String)] = []
    var body: [UInt8] = []
    /// Sends only this much of the body and then ends the connection.
    var cutAfter: Int?
    /// nil sends no `Authorization`.
    var token: String? = "demo"
    /// True if this is the last request of its connection.
    var closes = true

    var bytes: [UInt8] {
        var head = "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        if closes { head += "Connection: close\r\n" }
        if let token { head += "Authorization: Bearer \(token)\r\n" }
        for (name, value) in fields { head += "\(name): \(value)\r\n" }
        if !body.isEmpty || ["POST", "PUT", "PATCH"].contains(method) { head += "Content-Length: \(body.count)\r\n" }
        return Array((head + "\r\n").utf8) + body.prefix(cutAfter ?? body.count)
    }
}

/// A response as it came: perhaps with less body than promised.
struct RawReply: Sendable {
    var status: Int
    /// Names in lower case.
    var fields: [String: String]
    var body: [UInt8] = []

    var text: String { String(decoding: body, as: UTF8.self) }
}

/// Sends each request on a connection of its own and reads until the server closes it.
///
/// The blocking calls have threads of their own: the test shares the cooperative ones with the server under test.
struct RawClient: Sendable {
    var port: Int

    /// The informational replies and the final one; empty if the connection ended without any.
    func replies(to request: RawRequest) async throws -> [RawReply] {
        try await replies(to: [request])
    }

    /// All replies to requests that are sent one after the other on one connection.
    func replies(to requests: [RawRequest]) async throws -> [RawReply] {
        let port = port
        let bytes: [UInt8] = try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try Self.exchange(requests, port: port) })
            }
        }
        return Self.parse(bytes)
    }

    /// The final reply.
    func send(_ request: RawRequest) async throws -> RawReply {
        guard let reply = try await replies(to: request).last, reply.status >= 200 else { throw NoReply() }
        return reply
    }

    func send(_ method: String, _ path: String, _ fields: (String, String)...) async throws -> RawReply {
        try await send(RawRequest(method: method, path: path, fields: fields))
    }

    struct NoReply: Error {}
    struct SocketError: Error { var code: CInt }

    private static func exchange(_ requests: [RawRequest], port: Int) throws -> [UInt8] {
        #if canImport(Glibc)
            let kind = CInt(SOCK_STREAM.rawValue)
        #else
            let kind = SOCK_STREAM
        #endif
        let descriptor = socket(AF_INET, kind, 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        // A server that never answers fails the test instead of stopping it.
        var patience = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        guard connected == 0 else { throw SocketError(code: errno) }
        write(requests.flatMap(\.bytes), to: descriptor)
        // The server sees the end of a request that is not complete, reads what came before, and closes.
        if requests.contains(where: { $0.cutAfter != nil }) { shutdown(descriptor, CInt(SHUT_WR)) }
        return readAll(descriptor)
    }

    /// Stops at a connection that the server has closed: its answer may be there all the same.
    private static func write(_ bytes: [UInt8], to descriptor: CInt) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { sendQuietly(descriptor, $0) }
            if count <= 0 { return }
            sent += count
        }
    }

    private static func readAll(_ descriptor: CInt) -> [UInt8] {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count <= 0 { return all }
            all += buffer[..<count]
        }
    }

    private static func parse(_ bytes: [UInt8]) -> [RawReply] {
        var rest = bytes[...]
        var replies: [RawReply] = []
        while let end = rest.firstRange(of: Array("\r\n\r\n".utf8)) {
            let lines = String(decoding: rest[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
            var reply = RawReply(status: Int(lines[0].split(separator: " ")[1]) ?? 0, fields: [:])
            for line in lines.dropFirst() {
                guard let colon = line.firstIndex(of: ":") else { continue }
                let value = line[line.index(after: colon)...].drop { $0 == " " }
                reply.fields[line[..<colon].lowercased()] = String(value)
            }
            rest = rest[end.upperBound...]
            if reply.fields["transfer-encoding"] != nil {
                reply.body = unchunked(&rest)
            } else if let length = reply.fields["content-length"].flatMap({ Int($0) }) {
                reply.body = Array(rest.prefix(length))
                rest = rest.dropFirst(length)
            }
            replies.append(reply)
        }
        return replies
    }

    private static func unchunked(_ rest: inout ArraySlice<UInt8>) -> [UInt8] {
        var body: [UInt8] = []
        while let end = rest.firstRange(of: Array("\r\n".utf8)),
            let size = Int(String(decoding: rest[..<end.lowerBound], as: UTF8.self), radix: 16)
        {
            body += rest[end.upperBound...].prefix(size)
            rest = rest[end.upperBound...].dropFirst(size + 2)
            if size == 0 { break }
        }
        return body
    }
}

/// send(2) without SIGPIPE.
private func sendQuietly(_ descriptor: CInt, _ bytes: UnsafeRawBufferPointer) -> Int {
    #if canImport(Glibc)
        send(descriptor, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL))
    #else
        send(descriptor, bytes.baseAddress, bytes.count, 0)
    #endif
}
