import Crypto
import HTTPTypes
import PipelineHTTP

/// The extensions that a tus service offers beyond the core protocol, in its answer to `OPTIONS`.
struct TusOffer: Codable, Sendable, Equatable {
    /// True if a creation may bring bytes along.
    var createsWithUpload = false
    /// The checksum by which the bytes of an append are checked; nil when they are not.
    var checksum: UploadChecksum?
    /// The largest file that it takes.
    var maximumSize: Int64?

    init() {}

    init(_ headers: HTTPFields) {
        let extensions = Self.list(headers[.tusExtension])
        createsWithUpload = extensions.contains("creation-with-upload")
        // There are services that mean by zero that there is no limit.
        maximumSize = headers[.tusMaxSize].flatMap { Int64($0) }.flatMap { $0 > 0 ? $0 : nil }
        guard extensions.contains("checksum") else { return }
        let algorithms = Self.list(headers[.tusChecksumAlgorithm])
        checksum = UploadChecksum.allCases.first { algorithms.contains($0.rawValue) }
    }

    private static func list(_ text: String?) -> Set<String> {
        Set(text?.split(separator: ",").map { String($0.filter { $0 != " " }).lowercased() } ?? [])
    }
}

/// An algorithm of `Upload-Checksum`, the best one first; tus asks every service that checks for SHA-1.
enum UploadChecksum: String, Codable, Sendable, CaseIterable {
    case sha512, sha256, sha1

    /// The digest of a stretch of a file.
    func digest(of path: String, from offset: Int64, count: Int64) throws(RequestFailure) -> [UInt8] {
        switch self {
        case .sha512: try Self.digest(SHA512.self, path, offset, count)
        case .sha256: try Self.digest(SHA256.self, path, offset, count)
        case .sha1: try Self.digest(Insecure.SHA1.self, path, offset, count)
        }
    }

    private static func digest<Hash: HashFunction>(
        _ hash: Hash.Type, _ path: String, _ offset: Int64, _ count: Int64
    ) throws(RequestFailure) -> [UInt8] {
        var hasher = hash.init()
        try RequestBody.file(path: path, offset: offset, length: count).read { hasher.update(bufferPointer: $0) }
        return Array(hasher.finalize())
    }
}

extension HTTPField.Name {
    static let tusChecksumAlgorithm = HTTPField.Name("Tus-Checksum-Algorithm")!
    static let uploadChecksum = HTTPField.Name("Upload-Checksum")!
}
