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

/// The digests of a file, made out while its bytes pass, so that nobody reads it again for them: each by which somebody
/// says what the file is, and one by which what is there is known again after a crash.
///
/// What is named only after the first bytes have passed is not among them: a digest in a trailer, or one that a service
/// first gives with the rest of a file. For these the file is read once more when it is whole.
struct RunningDigests: Sendable {
    private var running: [(algorithm: DeclaredDigest.Algorithm, digest: any ByteDigest)]

    /// Begins exactly these.
    init(_ algorithms: [DeclaredDigest.Algorithm]) {
        running = DeclaredDigest.Algorithm.allCases.filter(algorithms.contains).map { ($0, $0.begin()) }
    }

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        for index in running.indices { running[index].digest.update(bufferPointer: bytes) }
    }

    /// The digest of all bytes so far in hex; nil for one that did not run with them.
    func hex(_ algorithm: DeclaredDigest.Algorithm) -> String? {
        running.first { $0.algorithm == algorithm }?.digest.value.hex
    }

    /// Begins these and, unless SHA-256 is among them, the cheapest by which the bytes are known again.
    static func proving(_ algorithms: [DeclaredDigest.Algorithm] = []) -> RunningDigests {
        RunningDigests(algorithms.contains(.sha256) ? algorithms : algorithms + [.crc32c])
    }

    /// Those that prove a claim: a checkpoint of 0.1.0 knows its bytes by SHA-256, whatever the document asks for.
    static func algorithm(ofProof proof: String) -> DeclaredDigest.Algorithm {
        proof.utf8.count == 2 * DeclaredDigest.Algorithm.sha256.length ? .sha256 : .crc32c
    }

    /// The text by which all bytes so far are known again: their SHA-256 in hex where it runs with them, else their
    /// CRC-32C.
    var proof: String { hex(.sha256) ?? hex(.crc32c) ?? "" }

    /// Returns whether the bytes so far are those that an earlier ``proof`` speaks of.
    func match(_ proof: String) -> Bool { hex(Self.algorithm(ofProof: proof)) == proof }
}

extension DigestAlgorithm {
    /// A digest that has seen nothing yet.
    func begin() -> any ByteDigest {
        switch self {
        case .crc32: CRC32()
        case .crc32c: CRC32C()
        case .md5: Insecure.MD5()
        case .sha1: Insecure.SHA1()
        case .sha256: SHA256()
        case .sha512: SHA512()
        }
    }
}
