package import NIOCore
package import NIOHTTP1

/// A response that is a short text, or nothing.
package struct TextResponse: Sendable {
    private let status: Int
    private let headers: [(name: String, value: String)]
    private let text: String

    /// - Parameters:
    ///   - type: the media type of the text.
    ///   - headers: those besides `Content-Length`, `Content-Type` and `Connection`.
    package init(
        _ status: Int, _ text: String, type: String = "text/plain; charset=utf-8",
        headers: [(name: String, value: String)] = []
    ) {
        self.status = status
        self.text = text
        self.headers = (text.isEmpty ? [] : [("Content-Type", type)]) + headers
    }

    /// Writes it; the connection is closed after it where `closes` says so. A HEAD is answered without the text
    /// (RFC 9110, section 9.3.2).
    package func write(to context: ChannelHandlerContext, closes: Bool, isHead: Bool = false) {
        let channel = context.channel
        for part in parts(closes: closes, isHead: isHead) { context.write(NIOAny(part), promise: nil) }
        context.writeAndFlush(NIOAny(HTTPServerResponsePart.end(nil))).whenComplete { _ in
            if closes { channel.close(promise: nil) }
        }
    }

    /// What stands before the end.
    package func parts(closes: Bool, isHead: Bool = false) -> [HTTPServerResponsePart] {
        var head = HTTPResponseHead(version: .http1_1, status: HTTPResponseStatus(statusCode: status))
        if status != 204 { head.headers.add(name: "Content-Length", value: "\(text.utf8.count)") }
        for (name, value) in headers { head.headers.add(name: name, value: value) }
        if closes { head.headers.add(name: "Connection", value: "close") }
        return [.head(head)] + (text.isEmpty || isHead ? [] : [.body(.byteBuffer(ByteBuffer(string: text)))])
    }
}
