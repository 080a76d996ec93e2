import Foundation
import PipelineTestKit

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
struct RawClient: Sendable {
    var port: Int

    /// The informational replies and the final one; empty if the connection ended without any.
    func replies(to request: RawRequest) async throws -> [RawReply] {
        try await replies(to: [request])
    }

    /// All replies to requests that are sent one after the other on one connection.
    func replies(to requests: [RawRequest]) async throws -> [RawReply] {
        // A server that never answers fails the test instead of stopping it.
        let connection = try RawConnection(port: port, patience: .seconds(20))
        // The server sees the end of a request that is not complete, reads what came before, and closes.
        let bytes = await connection.exchange(
            requests.flatMap(\.bytes), endsSending: requests.contains { $0.cutAfter != nil })
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
