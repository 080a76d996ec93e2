import Crypto
import PipelineCore

/// A digest or checksum that takes bytes in as they come.
protocol ByteDigest: Sendable {
    mutating func update(bufferPointer: UnsafeRawBufferPointer)
    /// That of all bytes so far, the most significant byte first.
    var value: [UInt8] { get }
}

extension ByteDigest where Self: HashFunction {
    var value: [UInt8] { Array(finalize()) }
}

extension Insecure.MD5: ByteDigest {}
extension Insecure.SHA1: ByteDigest {}
extension SHA256: ByteDigest {}
extension SHA512: ByteDigest {}
extension CRC32: ByteDigest {}

/// The digests of a file, made out while its bytes pass, so that nobody reads it again for them: SHA-256 always, and
/// each by which somebody says what the file is.
///
/// What is named only after the first bytes have passed is not among them: a digest in a trailer, or one that a service
/// first gives with the rest of a file. For these the file is read once more when it is whole.
struct RunningDigests: Sendable {
    private var running: [(algorithm: DeclaredDigest.Algorithm, digest: any ByteDigest)]

    /// Begins SHA-256 and those that are stated.
    init(for stated: [DeclaredDigest] = []) {
        let algorithms = [.sha256] + stated.map(\.algorithm)
        running = DeclaredDigest.Algorithm.allCases.filter(algorithms.contains).map { ($0, $0.begin()) }
    }

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        for index in running.indices { running[index].digest.update(bufferPointer: bytes) }
    }

    /// The digest of all bytes so far in hex; nil for one that did not run with them.
    func hex(_ algorithm: DeclaredDigest.Algorithm) -> String? {
        running.first { $0.algorithm == algorithm }?.digest.value.hex
    }

    /// The SHA-256 of all bytes so far in hex.
    var sha256: String { hex(.sha256) ?? "" }
}

extension DigestAlgorithm {
    /// A digest that has seen nothing yet.
    func begin() -> any ByteDigest {
        switch self {
        case .crc32: CRC32(.crc32)
        case .crc32c: CRC32(.crc32c)
        case .md5: Insecure.MD5()
        case .sha1: Insecure.SHA1()
        case .sha256: SHA256()
        case .sha512: SHA512()
        }
    }
}
