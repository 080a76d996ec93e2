internal import Crypto
import HTTPTypes

/// Sends the digest of the body along (RFC 9530): `Content-Digest`, and `Repr-Digest` where the body is the whole of
/// what it represents, neither encoded nor a part. What the author set stays. A body from a file is read for it once
/// more before it is sent.
public struct ContentDigest: RequestDecorator {
    /// The algorithms that are fit for use (IANA "Hash Algorithms for HTTP Digest Fields").
    public enum Algorithm: String, Sendable, CaseIterable {
        case sha256 = "sha-256"
        case sha512 = "sha-512"
    }

    /// The algorithm of the digest.
    public let algorithm: Algorithm

    /// Adds `Content-Digest` (RFC 9530).
    public init(_ algorithm: Algorithm = .sha256) {
        self.algorithm = algorithm
    }

    public var phase: DecorationPhase { .digest }

    public func decorate(_ request: inout RequestDescription, in context: DecorationContext) throws(RequestFailure) {
        guard !request.body.isNone else { return }
        let isPart = Self.partFields.contains { request.headers[$0] != nil }
        let names = isPart ? [Self.content] : [Self.content, Self.representation]
        let missing = names.filter { request.headers[$0] == nil }
        guard !missing.isEmpty else { return }
        let digest =
            switch algorithm {
            case .sha256: try request.body.digest(SHA256.self)
            case .sha512: try request.body.digest(SHA512.self)
            }
        for name in missing { request.headers[name] = "\(algorithm.rawValue)=:\(Base64Bytes.encode(digest)):" }
    }

    private static let content = HTTPField.Name("Content-Digest")!
    private static let representation = HTTPField.Name("Repr-Digest")!
    private static let partFields = [.contentRange, .contentEncoding, HTTPField.Name("Upload-Offset")!]
}
