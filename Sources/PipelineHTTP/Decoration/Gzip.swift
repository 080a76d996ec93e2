import HTTPTypes

/// Compresses the body with gzip and says so in `Content-Encoding` (RFC 9110 §8.4.1.3).
///
/// Bodies from files are compressed while they are sent, in constant memory, and once before for their length: this
/// costs twice the time of the processor. A body that is short, encoded already, a part of something, or that would not
/// become shorter stays as it is.
public struct Gzip: RequestDecorator {
    /// Shorter bodies stay as they are; in bytes.
    public let minimumSize: Int64

    /// Compresses bodies of at least that many bytes (RFC 1952).
    public init(minimumSize: Int64 = 1 << 10) {
        self.minimumSize = minimumSize
    }

    public var phase: DecorationPhase { .compression }

    public func decorate(_ request: inout RequestDescription, in context: DecorationContext) throws(RequestFailure) {
        let length = request.body.length
        guard length > 0, length >= minimumSize, !Self.kept.contains(where: { request.headers[$0] != nil }) else {
            return
        }
        let content = try GzipContent(request.body.segments)
        guard content.length < length else { return }
        if case .bytes = request.body {
            request.body = .bytes(try content.bytes())
        } else {
            request.body = .gzip(content)
        }
        request.headers[.contentEncoding] = "gzip"
    }

    private static let kept = [.contentEncoding, .contentRange, HTTPField.Name("Upload-Offset")!]
}
