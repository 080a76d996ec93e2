/// A digest or checksum of bytes, under the name that documents write.
public enum DigestAlgorithm: String, Codable, Sendable, Hashable, CaseIterable {
    case md5, sha1, sha256, sha512, crc32, crc32c

    /// The length of a digest in bytes.
    package var length: Int {
        switch self {
        case .crc32, .crc32c: 4
        case .md5: 16
        case .sha1: 20
        case .sha256: 32
        case .sha512: 64
        }
    }

    /// The name for people.
    package var title: String {
        switch self {
        case .crc32: "CRC-32"
        case .crc32c: "CRC-32C"
        case .md5: "MD5"
        case .sha1: "SHA-1"
        case .sha256: "SHA-256"
        case .sha512: "SHA-512"
        }
    }
}
