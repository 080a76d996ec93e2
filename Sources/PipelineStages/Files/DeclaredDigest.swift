import HTTPTypes
import PipelineCore

/// A digest that a whole file is said to have, by the author or by the service.
struct DeclaredDigest: Codable, Sendable, Hashable {
    typealias Algorithm = DigestAlgorithm

    var algorithm: Algorithm
    /// Lower-case hex.
    var hex: String
    /// The source of the digest, for messages: `"verify"`, `Repr-Digest`.
    var source: String

    init(_ algorithm: Algorithm, hex: String, source: String) {
        self.algorithm = algorithm
        self.hex = hex
        self.source = source
    }

    /// Reads a digest in hex or base64, quoted or not, with or without its algorithm before it (`sha256:…`,
    /// `sha-256=…`, `SHA256 …`). The algorithm follows from the length.
    init?(_ text: String, source: String) {
        var digits = text.split(whereSeparator: { $0 == " " || $0 == "\t" || $0 == "\"" }).last ?? ""
        for mark in [":", "="] {
            guard let place = digits.firstRange(of: mark), Self.isName(digits[..<place.lowerBound]) else { continue }
            digits = digits[place.upperBound...]
        }
        // `:…:` is how structured fields write bytes.
        if digits.hasPrefix(":"), digits.hasSuffix(":"), digits.count > 1 { digits = digits.dropFirst().dropLast() }
        if let algorithm = Algorithm.named.first(where: { $0.length * 2 == digits.utf8.count }),
            digits.utf8.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit })
        {
            self.init(algorithm, hex: digits.lowercased(), source: source)
        } else if let bytes = Base64Bytes.decode(digits),
            let algorithm = Algorithm.named.first(where: { $0.length == bytes.count })
        {
            self.init(algorithm, hex: bytes.hex, source: source)
        } else {
            return nil
        }
    }

    private static func isName(_ text: Substring) -> Bool {
        let name = text.lowercased().filter { $0 != "-" }
        return ["md5", "sha1", "sha256", "sha512", "sha"].contains(name)
    }

    /// Returns what an answer's own fields say of the whole file.
    ///
    /// `Repr-Digest` is about the whole also in a part; `Content-Digest` and `Content-MD5` are about the bytes of this
    /// answer (RFC 9530, sections 2 and 3; RFC 2616, section 14.15). Algorithms that nobody should rely on are skipped.
    static func stated(in headers: HTTPFields, isWhole: Bool) -> [DeclaredDigest] {
        var found: [DeclaredDigest] = []
        let names: [HTTPField.Name] = isWhole ? [.reprDigest, .contentDigest] : [.reprDigest]
        for name in names {
            let sequences = headers[name].map(StructuredField.byteSequences) ?? [:]
            for (key, algorithm) in [("sha-256", Algorithm.sha256), ("sha-512", .sha512)] {
                guard let bytes = sequences[key].flatMap({ Base64Bytes.decode($0) }), bytes.count == algorithm.length
                else { continue }
                found.append(DeclaredDigest(algorithm, hex: bytes.hex, source: name.rawName))
            }
        }
        if isWhole, let bytes = headers[.contentMD5].flatMap({ Base64Bytes.decode($0) }), bytes.count == 16 {
            found.append(DeclaredDigest(.md5, hex: bytes.hex, source: HTTPField.Name.contentMD5.rawName))
        }
        return found + stored(in: headers, isWhole: isWhole)
    }

    /// The digests that stores give in fields of their own. Google Cloud gives the digests of the object with a part too, but of
    /// what it holds: not of a body that it unpacks on the way
    /// (https://cloud.google.com/storage/docs/xml-api/reference-headers#xgooghash). A digest of parts' digests, which S3
    /// writes with their number after it, says nothing about the whole
    /// (https://docs.aws.amazon.com/AmazonS3/latest/userguide/checking-object-integrity.html).
    private static func stored(in headers: HTTPFields, isWhole: Bool) -> [DeclaredDigest] {
        var found: [DeclaredDigest] = []
        let encoding = headers[.storedEncoding]?.lowercased() ?? "identity"
        if encoding == "identity" || headers[.contentEncoding]?.lowercased() == encoding {
            for item in headers[values: .googleHash].flatMap({ $0.split(separator: ",") }) {
                let halves = item.split(separator: "=", maxSplits: 1).map { $0.filter { !$0.isWhitespace } }
                guard halves.count == 2 else { continue }
                let algorithm: Algorithm? = ["crc32c": .crc32c, "md5": .md5][halves[0].lowercased()]
                if let algorithm { found.append(contentsOf: stated(algorithm, halves[1], .googleHash)) }
            }
        }
        guard isWhole, headers[.amazonType]?.uppercased() != "COMPOSITE" else { return found }
        for algorithm in [Algorithm.crc32, .crc32c, .sha1, .sha256] {
            guard let name = HTTPField.Name("x-amz-checksum-\(algorithm.rawValue)"), let text = headers[name] else {
                continue
            }
            found.append(contentsOf: stated(algorithm, text, name))
        }
        return found
    }

    /// The digest of a field in base64; none when it is something else, such as a digest of digests.
    private static func stated(_ algorithm: Algorithm, _ text: String, _ name: HTTPField.Name) -> [DeclaredDigest] {
        guard let bytes = Base64Bytes.decode(text), bytes.count == algorithm.length, !text.contains("-") else {
            return []
        }
        return [DeclaredDigest(algorithm, hex: bytes.hex, source: name.rawName)]
    }

    /// True if no other file has it by chance: a checksum of 32 bits tells damage, not two versions.
    var tellsFilesApart: Bool { algorithm.length >= 16 }

    /// Returns the same digest of a file on the disk.
    func actual(of path: String) throws(FileFailure) -> String? {
        try FileDigest.digests(of: path, [algorithm]).hex(algorithm)
    }
}

extension DigestAlgorithm {
    /// Those that a length of digits stands for.
    static let named: [DigestAlgorithm] = [.md5, .sha1, .sha256, .sha512]
}

extension HTTPField.Name {
    static let reprDigest = HTTPField.Name("Repr-Digest")!
    static let contentDigest = HTTPField.Name("Content-Digest")!
    static let googleHash = HTTPField.Name("x-goog-hash")!
    static let storedEncoding = HTTPField.Name("x-goog-stored-content-encoding")!
    static let amazonType = HTTPField.Name("x-amz-checksum-type")!
    static let contentMD5 = HTTPField.Name("Content-MD5")!
}
