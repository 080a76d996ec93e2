import CZlib

/// Undoes the content coding of a response piece by piece (RFC 9110, section 8.4.1): `gzip` (RFC 1952, also of several
/// members) and `deflate` (RFC 1950, or the bare RFC 1951 that some servers send for it).
///
/// It holds a window and one buffer, whatever the size of what comes out: who takes the pieces bounds them. Belongs to one
/// receiver and is used on its thread only.
final class ContentDecoder {
    static let codings: Set<String> = ["gzip", "x-gzip", "deflate"]

    private enum Phase { case begin, inside, ended, damaged }

    private let isGzip: Bool
    private var stream = z_stream()
    private var phase = Phase.begin
    private var isReady = false
    /// The first byte of a deflate stream, until the second says which form it has.
    private var head: [UInt8] = []
    private let output: UnsafeMutableRawBufferPointer

    /// Nil for a coding that it does not undo.
    init?(_ coding: ContentCoding) {
        guard case .decodable(let name) = coding else { return nil }
        isGzip = name != "deflate"
        // Not before: an initialiser that gives nothing is not followed by `deinit`.
        output = .allocate(byteCount: 64 << 10, alignment: 16)
    }

    deinit {
        if isReady { inflateEnd(&stream) }
        output.deallocate()
    }

    /// True when what came ends in order; nothing at all does, as of a response without a body.
    var isComplete: Bool { phase == .ended || phase == .begin && head.isEmpty }

    /// True once what came was not of the coding.
    var isDamaged: Bool { phase == .damaged }

    /// Undoes the next piece; false when it is damaged, or as soon as `take` wants no more.
    func decode(_ bytes: UnsafeRawBufferPointer, _ take: (UnsafeRawBufferPointer) -> Bool) -> Bool {
        guard phase == .begin, !isGzip, !isReady else { return inflate(bytes, take) }
        head += bytes.prefix(2 - head.count)
        guard head.count == 2 else { return true }
        // The head of zlib's form: method 8, and a checksum of five bits (RFC 1950, section 2.2).
        let isZlib = head[0] & 15 == 8 && (Int(head[0]) << 8 + Int(head[1])) % 31 == 0
        begin(bits: isZlib ? 15 : -15)
        let (first, rest) = (head, UnsafeRawBufferPointer(rebasing: bytes.dropFirst(bytes.count >= 2 ? 2 : 1)))
        head = []
        return first.withUnsafeBytes { inflate($0, take) } && inflate(rest, take)
    }

    private func begin(bits: Int32) {
        isReady = czlib_inflate_begin(&stream, bits) == Z_OK
        if !isReady { phase = .damaged }
    }

    private func inflate(_ bytes: UnsafeRawBufferPointer, _ take: (UnsafeRawBufferPointer) -> Bool) -> Bool {
        if !isReady, phase == .begin { begin(bits: 15 + 16) }
        guard phase != .damaged else { return false }
        stream.next_in = UnsafeMutablePointer(mutating: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
        stream.avail_in = UInt32(clamping: bytes.count)
        defer { stream.next_in = nil }
        repeat {
            if phase == .ended {
                // What follows on the end is another member, or nothing that counts.
                guard isGzip, stream.avail_in > 0, stream.next_in.pointee == 0x1F else { return true }
                inflateReset(&stream)
            }
            if stream.avail_in > 0 { phase = .inside }
            stream.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
            stream.avail_out = UInt32(output.count)
            let code = CZlib.inflate(&stream, Z_NO_FLUSH)
            let made = output.count - Int(stream.avail_out)
            if made > 0, !take(UnsafeRawBufferPointer(rebasing: output[..<made])) { return false }
            switch code {
            case Z_STREAM_END: phase = .ended
            case Z_OK: break
            case Z_BUF_ERROR where made == 0: return true
            default:
                phase = .damaged
                return false
            }
        } while stream.avail_in > 0 || stream.avail_out == 0
        return true
    }
}
