import Crypto
import HTTPTypes
import PipelineCore
import PipelineHTTP

/// An algorithm by which S3 checks what it receives, part by part and as a whole
/// (https://docs.aws.amazon.com/AmazonS3/latest/userguide/checking-object-integrity.html).
///
/// Only where the author asks for one by the header `x-amz-checksum-algorithm`: many services that speak like S3 refuse
/// these headers.
enum StorageChecksum: String, Codable, Sendable, CaseIterable {
    case crc32 = "CRC32"
    case crc32c = "CRC32C"
    case sha1 = "SHA1"
    case sha256 = "SHA256"

    /// The header by which it is asked for.
    static let choice = HTTPField.Name("x-amz-checksum-algorithm")!

    /// The header of a part, or of an object of one part.
    var field: HTTPField.Name { HTTPField.Name("x-amz-checksum-\(rawValue.lowercased())")! }

    /// The element of a part in the lists of parts.
    var element: String { "Checksum\(rawValue)" }

    /// The one that a request's headers ask for; nil for none.
    static func wanted(in headers: HTTPFields, _ place: String) throws(StageFailure) -> StorageChecksum? {
        guard let name = headers[choice] else { return nil }
        if let known = StorageChecksum(rawValue: name.uppercased()) { return known }
        let all = allCases.map(\.rawValue).joined(separator: ", ")
        throw .definite(
            StepFailure("the checksum \(name) is not known here", hint: "one of \(all)", place: place))
    }

    /// Puts the checksum of a stretch of a file into the request that carries it.
    func add(
        to rendered: inout RenderedRequest, of path: String, from offset: Int64, count: Int64, _ place: String
    ) throws(StageFailure) {
        do throws(RequestFailure) {
            rendered.description.headers[field] = try value(of: path, from: offset, count: count)
        } catch {
            throw .definite(StepFailure(error.message, place: place))
        }
    }

    /// In base64, the most significant byte first.
    func value(of path: String, from offset: Int64, count: Int64) throws(RequestFailure) -> String {
        let body = RequestBody.file(path: path, offset: offset, length: count)
        let bytes: [UInt8]
        switch self {
        case .crc32: bytes = try Self.bytes(.crc32, body)
        case .crc32c: bytes = try Self.bytes(.crc32c, body)
        case .sha1: bytes = try Self.bytes(Insecure.SHA1.self, body)
        case .sha256: bytes = try Self.bytes(SHA256.self, body)
        }
        return Base64Bytes.encode(bytes)
    }

    private static func bytes(_ kind: CyclicChecksum.Kind, _ body: RequestBody) throws(RequestFailure) -> [UInt8] {
        var checksum = CyclicChecksum(kind)
        try body.read { checksum.update($0) }
        return checksum.bytes
    }

    private static func bytes<Hash: HashFunction>(
        _ hash: Hash.Type, _ body: RequestBody
    ) throws(RequestFailure) -> [UInt8] {
        var hasher = hash.init()
        try body.read { hasher.update(bufferPointer: $0) }
        return Array(hasher.finalize())
    }
}
