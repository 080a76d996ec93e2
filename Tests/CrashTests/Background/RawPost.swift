import PipelineTestKit

/// One HTTP request on a connection of its own, for what a push's sender does.
enum RawPost {
    /// The status of the answer; nil when there was none.
    static func send(
        _ method: String = "POST", to path: String, port: UInt16, headers: [String: String] = [:], body: [UInt8]
    ) async -> Int? {
        guard let connection = try? RawConnection(port: Int(port)) else { return nil }
        let fields = headers.map { "\($0.key): \($0.value)\r\n" }.joined()
        let head =
            "\(method) \(path) HTTP/1.1\r\nHost: push.example\r\nContent-Length: \(body.count)\r\n"
            + "Connection: close\r\n\(fields)\r\n"
        connection.send(Array(head.utf8) + body)
        return await connection.text(through: "\r\n").flatMap { Int($0.dropFirst(9).prefix(3)) }
    }
}
