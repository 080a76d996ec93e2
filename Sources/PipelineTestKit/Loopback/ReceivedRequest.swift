public import HTTPTypes

/// A request as the server got it.
public struct ReceivedRequest: Sendable {
    /// From 1, in the order of arrival at the server.
    public var number: Int
    /// The connection it came over, from 1.
    public var connection: Int
    /// From 1, on that connection.
    public var numberOnConnection: Int
    public var method: String
    /// As it stood in the request line.
    public var target: String
    public var headers: HTTPFields
    /// The body as far as it was read, up to the server's limit.
    public var body: [UInt8] = []
    /// How much of the body was read, whether kept or not.
    public var bodyCount: Int64 = 0

    public func header(_ name: String) -> String? {
        HTTPField.Name(name).flatMap { headers[$0] }
    }

    /// The target without its query.
    public var path: String { String(target.prefix { $0 != "?" }) }

    /// The body as text.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// What the client said the body's length is.
    public var contentLength: Int64 { header("Content-Length").flatMap { Int64($0) } ?? 0 }
}
