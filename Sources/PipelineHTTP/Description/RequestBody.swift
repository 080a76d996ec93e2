/// The content that follows the head of a request. It knows its exact length: `Content-Length` is always sent, never
/// chunks.
public enum RequestBody: Sendable {
    case none
    case bytes([UInt8])
    /// A range of a local file, read while it is sent. A file that ends early fails the exchange as `sourceChanged`.
    case file(path: String, offset: Int64, length: Int64)
    case multipart(MultipartBody)
    /// Anything, compressed while it is sent.
    case gzip(GzipContent)
    /// Pieces that follow each other.
    case pieces([BodySegment])

    /// The UTF-8 bytes of a text.
    public static func text(_ text: String) -> RequestBody { .bytes(Array(text.utf8)) }

    /// Length in bytes.
    public var length: Int64 {
        segments.reduce(0) { $0 + $1.length }
    }

    /// True when there is no body at all, which is not the same as an empty one.
    public var isNone: Bool {
        if case .none = self { true } else { false }
    }

    /// Reads all of it in pieces, in order, as it will be sent.
    public func read(_ take: (UnsafeRawBufferPointer) -> Void) throws(RequestFailure) {
        try BodyReader(segments).forEach(take)
    }

    /// The first bytes of it, as they will be sent, or all of a shorter one.
    public func prefix(_ count: Int) throws(RequestFailure) -> [UInt8] {
        try BodyReader(segments).prefix(count)
    }

    /// The pieces that follow each other on the wire.
    public var segments: [BodySegment] {
        switch self {
        case .none: []
        case .bytes(let bytes): [.bytes(bytes)]
        case .file(let path, let offset, let length): [.file(path: path, offset: offset, length: length)]
        case .multipart(let body): body.segments
        case .gzip(let content): [.gzip(content)]
        case .pieces(let pieces): pieces
        }
    }
}

/// A piece of a body: bytes in memory, a range of a file, or its lines.
public enum BodySegment: Sendable, Equatable {
    case bytes([UInt8])
    case file(path: String, offset: Int64, length: Int64)
    case gzip(GzipContent)
    /// The lines of a file that ``LineReader`` gives, with commas between them, of this length in all: the inside of a
    /// JSON array. A file that gives another length fails the exchange as `sourceChanged`.
    case lines(path: String, length: Int64)
    /// A whole file in base64 with padding (RFC 4648, section 4), encoded while it is sent. A file that ends before
    /// `fileSize` bytes fails the exchange as `sourceChanged`.
    case base64(path: String, fileSize: Int64)

    /// Length in bytes.
    public var length: Int64 {
        switch self {
        case .bytes(let bytes): Int64(bytes.count)
        case .file(_, _, let length), .lines(_, let length): length
        case .gzip(let content): content.length
        case .base64(_, let fileSize): Base64File.length(of: fileSize)
        }
    }
}
