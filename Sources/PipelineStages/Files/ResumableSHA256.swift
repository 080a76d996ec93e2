import COpenSSL

/// A SHA-256 that can be set down in a checkpoint and taken up again in another process.
///
/// What is kept is the chaining value behind the last whole block (FIPS 180-4, section 6.2): it belongs to the algorithm
/// and to no library. swift-crypto keeps its state to itself, hence OpenSSL, which libcurl brings along anyway; both use
/// the processor's instructions.
struct ResumableSHA256: Sendable {
    /// A place in the bytes and the state of the digest there.
    struct Mark: Codable, Sendable, Hashable {
        /// A multiple of 64.
        var position: Int64
        /// Eight words.
        var words: [UInt32]
    }

    private var context = SHA256_CTX()
    /// The number of bytes that were taken in.
    private(set) var position: Int64 = 0

    init() { copenssl_sha256_begin(&context) }

    /// Goes on at a mark; nil for one that can't be.
    init?(_ mark: Mark) {
        guard mark.position >= 0, mark.position % 64 == 0, mark.words.count == 8 else { return nil }
        position = mark.position
        copenssl_sha256_go_on(&context, mark.words, UInt64(mark.position))
    }

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        copenssl_sha256_update(&context, start, bytes.count)
        position += Int64(bytes.count)
    }

    /// The last place behind which all can be told from the state alone.
    var mark: Mark {
        var words = [UInt32](repeating: 0, count: 8)
        withUnsafePointer(to: context) { copenssl_sha256_words($0, &words) }
        return Mark(position: position / 64 * 64, words: words)
    }

    /// The digest of all bytes so far.
    var digest: [UInt8] {
        var copy = context
        var bytes = [UInt8](repeating: 0, count: 32)
        copenssl_sha256_end(&copy, &bytes)
        return bytes
    }
}
