import CZlib

/// Compresses a body piece by piece.
///
/// Belongs to one reader and is used on its thread only.
final class GzipStream {
    private let source: BodyReader
    private var stream = z_stream()
    private let input = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    private let isReady: Bool
    private var isSourceRead = false
    private(set) var isFinished = false
    /// Set when reading the source had to stop.
    var failure: ExchangeFailure.Reason? {
        isReady ? source.failure : .other(code: Int(Z_MEM_ERROR), text: "zlib is out of memory")
    }

    init(_ source: [BodySegment]) {
        self.source = BodyReader(source)
        isReady = czlib_gzip_begin(&stream, Z_DEFAULT_COMPRESSION) == Z_OK
    }

    deinit {
        if isReady { deflateEnd(&stream) }
        input.deallocate()
    }

    /// Fills the buffer as far as there is anything; 0 at the end, nil when ``failure`` is set.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        guard isReady else { return nil }
        stream.next_out = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.avail_out = UInt32(clamping: buffer.count)
        let room = stream.avail_out
        while stream.avail_out > 0, !isFinished {
            if stream.avail_in == 0, !isSourceRead {
                guard let count = source.read(into: input) else { return nil }
                isSourceRead = count == 0
                stream.next_in = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
                stream.avail_in = UInt32(count)
            }
            isFinished = deflate(&stream, isSourceRead ? Z_FINISH : Z_NO_FLUSH) == Z_STREAM_END
        }
        return Int(room - stream.avail_out)
    }

    /// Returns whether nothing follows: the end of the stream is known only once more was asked for.
    func hasEnded() -> Bool {
        guard !isFinished else { return true }
        return withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { read(into: $0) == 0 && isFinished }
    }
}
