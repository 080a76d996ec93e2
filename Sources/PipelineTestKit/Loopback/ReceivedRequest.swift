package import HTTPTypes

/// A request as the server got it.
package struct ReceivedRequest: Sendable {
    /// From 1, in the order of arrival at the server.
    package var number: Int
    /// The connection it came over, from 1.
    package var connection: Int
    /// From 1, on that connection.
    package var numberOnConnection: Int
    package var method: String
    /// As it stood in the request line.
    package var target: String
    package var headers: HTTPFields
    /// The body as far as it was read, up to the server's limit.
    package var body: [UInt8] = []
    /// The number of bytes of the body that were read, whether kept or not.
    package var bodyCount: Int64 = 0

    package func header(_ name: String) -> String? {
        HTTPField.Name(name).flatMap { headers[$0] }
    }

    /// The target without its query.
    package var path: String { String(target.prefix { $0 != "?" }) }

    /// The body as text.
    package var text: String { String(decoding: body, as: UTF8.self) }

    /// The length of the body that the client stated.
    package var contentLength: Int64 { header("Content-Length").flatMap { Int64($0) } ?? 0 }
}
