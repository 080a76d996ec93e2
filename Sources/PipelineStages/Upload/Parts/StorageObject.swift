import Crypto
import HTTPTypes
import PipelineCore
import PipelineHTTP

extension PartsCheckpoint {
    /// The time by which the clocks of one service's machines may be apart.
    private static let skew = Duration.seconds(5)

    /// Returns whether an object, as a HEAD shows it, is the one that this upload's parts were put together to. Its
    /// name and its size may be those of an older one, which stands there when the upload was removed.
    ///
    /// By the MD5 of the parts' own, where their ETags are such; else by its age: S3 dates an object of parts from the
    /// moment in which its upload was made, and no other service dates it from before.
    /// - Parameter isContested: whether others may have made the object meanwhile; its age is no proof then, unless its ETag
    ///   can't be one.
    func made(_ object: HTTPExchangeResponse, of size: Int64, isContested: Bool) -> Bool {
        let tag = Self.bare(object.headers[.eTag] ?? "")
        let count = PartTable(total: size, size: partSize).count
        guard object.isSuccess, object.headers[.contentLength].flatMap({ Int64($0) }) == size,
            tag.hasSuffix("-\(count)")
        else { return false }
        if let known = digestOfDigests {
            if tag == "\(known)-\(count)" { return true }
            if isContested, !Self.isSealed(object) { return false }
        }
        guard let begun, let dated = object.headers[.lastModified].flatMap({ Timestamp.httpDate($0) }) else {
            return false
        }
        return dated + Self.skew >= begun
    }

    /// The MD5 of the parts' MD5s in hex; nil when their ETags are none.
    private var digestOfDigests: String? {
        var hasher = Insecure.MD5()
        for (_, tag) in receipts.sorted(by: { $0.key < $1.key }) {
            guard let digest = Self.bytes(ofHex: Self.bare(tag)) else { return nil }
            hasher.update(data: digest)
        }
        return Array(hasher.finalize()).hex
    }

    /// With keys of a key service or of the caller's own ETags are no digests.
    private static func isSealed(_ object: HTTPExchangeResponse) -> Bool {
        object.headers.contains { field in
            let name = field.name.canonicalName
            return name.hasPrefix("x-amz-server-side-encryption") && field.value != "AES256"
        }
    }

    private static func bare(_ tag: String) -> String { tag.filter { $0 != "\"" }.lowercased() }

    private static func bytes(ofHex text: String) -> [UInt8]? {
        let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count == 32, text.utf8.count == 32 else { return nil }
        return stride(from: 0, to: 32, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
    }
}
