import FoundationEssentials

/// A JSON Web Token (RFC 7519) that is signed here (RFC 7515, compact serialization), again before it ends.
public struct SignedToken: Sendable, Hashable {
    /// The algorithm by which it is signed (RFC 7518, section 3.1; EdDSA by RFC 8037, section 3.1, with Ed25519).
    public enum Algorithm: String, Sendable, Hashable, CaseIterable {
        case es256 = "ES256"
        case es384 = "ES384"
        case rs256 = "RS256"
        case ps256 = "PS256"
        case edDSA = "EdDSA"
        case hs256 = "HS256"
    }

    /// The place where the key is.
    public enum Key: Sendable, Hashable {
        /// A PEM text; with HS256 the shared secret itself.
        case text(String)
        /// A file of it, by its absolute path.
        case file(String)
    }

    /// A member of the header or of the claims.
    public struct Member: Sendable, Hashable {
        /// The member's name.
        public let name: String
        /// The value as JSON.
        public let json: String

        /// A member; `json` is its value as JSON text.
        public init(name: String, json: String) {
            self.name = name
            self.json = json
        }
    }

    /// The algorithm that signs (RFC 7518, section 3.1; RFC 8037).
    public var algorithm: Algorithm
    /// The key that signs.
    public var key: Key
    /// `kid`: which of the signer's keys it is.
    public var keyID: String?
    /// More of the header; `alg` and `typ` stand there already.
    public var header: [Member]
    /// `iat` and `exp` are added unless they stand here.
    public var claims: [Member]
    /// The time for which it is good.
    public var lifetime: Duration
    /// True if each token gets a `jti` of its own, as endpoints that take each assertion once want it.
    public var isUnique: Bool

    /// The account: who signs, and what it says.
    var account: String {
        let key =
            switch key {
            case .text(let text): text
            case .file(let path): path
            }
        return ([key, keyID ?? ""] + claims.map { "\($0.name)=\($0.json)" }).joined(separator: "\u{0}")
    }

    /// A token that is signed again for each request (RFC 7519).
    ///
    /// - Parameters:
    ///   - keyID: `kid` of the header.
    ///   - header: more members of the header.
    ///   - claims: the claims besides `iat`, `exp` and `jti`.
    ///   - lifetime: the time between `iat` and `exp`.
    ///   - isUnique: true for one with a `jti`.
    public init(
        algorithm: Algorithm, key: Key, keyID: String? = nil, header: [Member] = [], claims: [Member] = [],
        lifetime: Duration = .seconds(900), isUnique: Bool = false
    ) {
        self.algorithm = algorithm
        self.key = key
        self.keyID = keyID
        self.header = header
        self.claims = claims
        self.lifetime = lifetime
        self.isUnique = isUnique
    }

    var identity: [String] {
        let keyText =
            switch key {
            case .text(let text): text
            case .file(let path): "@\(path)"
            }
        let members = (header + claims).map { "\($0.name): \($0.json)" }
        return [algorithm.rawValue, keyText, keyID ?? "", "\(lifetime)"] + members
    }
}

extension SignedToken {
    /// The token as it is sent.
    ///
    /// - Parameters:
    ///   - now: the time since 1 January 1970 UTC.
    ///   - identifier: the `jti` of one that is unique.
    func text(now: Duration, identifier: String = "") throws(RequestFailure) -> String {
        let signer = try SigningKey(content: try content(), for: algorithm)
        let signed = "\(Self.encoded(headerText)).\(Self.encoded(claimsText(now: now, identifier: identifier)))"
        return "\(signed).\(Self.base64URL(try signer.signature(of: Array(signed.utf8))))"
    }

    private var headerText: String {
        var members = [Member(name: "alg", json: Self.quoted(algorithm.rawValue))]
        if !header.contains(where: { $0.name == "typ" }) { members.append(Member(name: "typ", json: #""JWT""#)) }
        if let keyID, !header.contains(where: { $0.name == "kid" }) {
            members.append(Member(name: "kid", json: Self.quoted(keyID)))
        }
        return Self.object(members + header.filter { $0.name != "alg" })
    }

    private func claimsText(now: Duration, identifier: String) -> String {
        let names = Set(claims.map(\.name))
        var members = claims
        let issued = now.components.seconds
        if !names.contains("iat") { members.append(Member(name: "iat", json: "\(issued)")) }
        if !names.contains("exp") {
            members.append(Member(name: "exp", json: "\(issued + max(1, lifetime.components.seconds))"))
        }
        if isUnique, !names.contains("jti") { members.append(Member(name: "jti", json: Self.quoted(identifier))) }
        return Self.object(members)
    }

    /// The key's text, from its file if it is in one. No key is as long as 64 KiB.
    private func content() throws(RequestFailure) -> String {
        switch key {
        case .text(let text): return text
        case .file(let path):
            guard let data = try? Data(contentsOf: URL(filePath: path)) else {
                throw RequestFailure("the key of the token can't be read from \(path): check the path after \"@\"")
            }
            guard data.count <= 64 << 10, let text = String(bytes: data, encoding: .utf8) else {
                throw RequestFailure("\(path) is no key: it should be a PEM text")
            }
            return text
        }
    }

    private static func object(_ members: [Member]) -> String {
        "{\(members.map { "\(quoted($0.name)):\($0.json)" }.joined(separator: ","))}"
    }

    private static func quoted(_ text: String) -> String {
        (try? JSONEncoder().encode(text)).map { String(decoding: $0, as: UTF8.self) } ?? "\"\""
    }

    private static func encoded(_ text: String) -> String { base64URL(Array(text.utf8)) }

    /// Base64 with the alphabet for URLs and without padding (RFC 7515, section 2).
    private static func base64URL(_ bytes: [UInt8]) -> String {
        let digits = Base64Bytes.digits(of: bytes, alphabet: Base64Bytes.urlSafe, padded: false)
        return String(decoding: digits, as: UTF8.self)
    }
}
