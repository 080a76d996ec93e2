import PipelinePictures

/// The response to a request.
package struct DashboardResponse: Sendable {
    package enum Body: Sendable {
        case bytes([UInt8])
        /// Parts as they come; the connection is closed after the last. After an error it is closed without the mark of
        /// the body's end, so that the other side knows that the body is cut (RFC 9112, section 8).
        case stream(AsyncThrowingStream<[UInt8], any Error>)
    }

    package var status: Int
    package var headers: [(name: String, value: String)]
    package var body: Body

    package init(status: Int = 200, type: String, body: Body, headers: [(name: String, value: String)] = []) {
        self.status = status
        self.headers = [("Content-Type", type)] + headers
        self.body = body
    }

    /// A page.
    static func html(_ markup: Markup, status: Int = 200, headers: [(name: String, value: String)] = []) -> Self {
        DashboardResponse(
            status: status, type: "text/html; charset=utf-8", body: .bytes(markup.bytes), headers: headers)
    }

    static func text(_ text: String, status: Int = 200, headers: [(name: String, value: String)] = []) -> Self {
        DashboardResponse(
            status: status, type: "text/plain; charset=utf-8", body: .bytes(Array((text + "\n").utf8)),
            headers: headers)
    }

    /// Sends a browser on.
    static func redirect(to location: String, status: Int = 303) -> Self {
        text("see \(location)", status: status, headers: [("Location", location)])
    }
}
