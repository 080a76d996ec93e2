import HTTPTypes
import PipelineCore
import PipelineHTTP

/// An algorithm by which S3 checks what it receives, part by part and as a whole
/// (https://docs.aws.amazon.com/AmazonS3/latest/userguide/checking-object-integrity.html).
///
/// Only where the author asks for one by the header `x-amz-checksum-algorithm`: many services that speak like S3 refuse
/// these headers. A header goes out before the bytes that it is about: each part is read for it just before it is sent.
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
        var digest = algorithm.begin()
        try body.read { digest.update(bufferPointer: $0) }
        return Base64Bytes.encode(digest.value)
    }

    private var algorithm: DeclaredDigest.Algorithm {
        switch self {
        case .crc32: .crc32
        case .crc32c: .crc32c
        case .sha1: .sha1
        case .sha256: .sha256
        }
    }
}
