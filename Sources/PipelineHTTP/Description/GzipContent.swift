/// A body in gzip's format (RFC 1952) that is made while it is sent, in constant memory.
///
/// Its length must be known before: the source is compressed once for it and once more for each time it is sent, which
/// gives the same bytes. A source that changed in between fails the exchange as `sourceChanged`.
public struct GzipContent: Sendable, Equatable {
    /// The pieces that are compressed, one piece after the other.
    public let source: [BodySegment]
    /// Of the compressed bytes.
    public let length: Int64

    /// Compresses the source once, for the length.
    public init(_ source: [BodySegment]) throws(RequestFailure) {
        self.source = source
        let stream = GzipStream(source)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
        defer { buffer.deallocate() }
        var length: Int64 = 0
        while let count = stream.read(into: buffer), count > 0 { length += Int64(count) }
        if let failure = stream.failure { throw RequestFailure(FailureText.message(failure, host: "", detail: "")) }
        self.length = length
    }

    /// All of it, for what fits into memory.
    package func bytes() throws(RequestFailure) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Int(length))
        try BodyReader([.gzip(self)]).forEach { bytes += $0 }
        return bytes
    }

    /// The file that it is made of, for messages.
    var path: String {
        for case .file(let path, _, _) in source { return path }
        return ""
    }
}
