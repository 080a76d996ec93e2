internal import Crypto
internal import CryptoExtras

/// A private key that signs tokens, read from PEM: PKCS #8 (RFC 5958), SEC 1 (RFC 5915) or PKCS #1 (RFC 8017).
struct SigningKey: Sendable {
    private enum Kind: Sendable {
        case p256(P256.Signing.PrivateKey)
        case p384(P384.Signing.PrivateKey)
        case p521
        case rsa(_RSA.Signing.PrivateKey)
        case ed25519(Curve25519.Signing.PrivateKey)
        case shared([UInt8])

        var title: String {
            switch self {
            case .p256: "a key of the curve P-256"
            case .p384: "a key of the curve P-384"
            case .p521: "a key of the curve P-521"
            case .rsa: "an RSA key"
            case .ed25519: "an Ed25519 key"
            case .shared: "a shared secret"
            }
        }
    }

    private let kind: Kind
    private let algorithm: SignedToken.Algorithm

    /// Reads a key and checks that it is one for the algorithm; the message says what it is instead.
    init(content: String, for algorithm: SignedToken.Algorithm) throws(RequestFailure) {
        self.algorithm = algorithm
        if algorithm == .hs256 {
            guard !content.isEmpty else { throw RequestFailure("the key of the token is empty") }
            kind = .shared(Array(content.utf8))
            return
        }
        kind = try Self.read(Self.pem(content), for: algorithm)
        switch (algorithm, kind) {
        case (.es256, .p256), (.es384, .p384), (.rs256, .rsa), (.ps256, .rsa), (.edDSA, .ed25519): break
        default:
            throw RequestFailure(
                "the key of the token is \(kind.title), and \(algorithm.rawValue) needs \(algorithm.keyTitle)")
        }
    }

    func signature(of bytes: [UInt8]) throws(RequestFailure) -> [UInt8] {
        do {
            switch kind {
            case .p256(let key): return Array(try key.signature(for: bytes).rawRepresentation)
            case .p384(let key): return Array(try key.signature(for: bytes).rawRepresentation)
            case .rsa(let key):
                let padding = algorithm == .ps256 ? _RSA.Signing.Padding.PSS : .insecurePKCS1v1_5
                return Array(try key.signature(for: SHA256.hash(data: bytes), padding: padding).rawRepresentation)
            case .ed25519(let key): return Array(try key.signature(for: bytes))
            case .shared(let secret):
                return Array(HMAC<SHA256>.authenticationCode(for: bytes, using: SymmetricKey(data: secret)))
            case .p521: throw RequestFailure("keys of the curve P-521 do not sign tokens here")
            }
        } catch let failure as RequestFailure {
            throw failure
        } catch {
            throw RequestFailure("the key of the token can't sign: it may be too short or damaged")
        }
    }

    /// The PEM text alone. In a variable of the environment line breaks are often written `\n`.
    private static func pem(_ content: String) throws(RequestFailure) -> String {
        var text = content
        if !text.contains("\n") { text = text.replacing(#"\n"#, with: "\n") }
        guard let start = text.firstRange(of: "-----BEGIN ") else {
            let isAccountFile = text.contains("\"private_key\"")
            throw RequestFailure(
                isAccountFile
                    ? "the key of the token is a whole JSON file: its key is parse(secrets.NAME).private_key"
                    : "the key of the token is no PEM: it begins with -----BEGIN PRIVATE KEY-----; "
                        + "in a secrets file it stands in double quotes, in a file of its own write @FILE")
        }
        text = String(text[start.lowerBound...])
        let label = text.dropFirst("-----BEGIN ".count).prefix { $0 != "-" && $0 != "\n" }
        if label == "ENCRYPTED PRIVATE KEY" || text.contains("Proc-Type: 4,ENCRYPTED") {
            throw RequestFailure(
                "the key of the token is encrypted: openssl pkey -in KEY.pem -out PLAIN.pem takes its password away")
        }
        switch label {
        case "PRIVATE KEY", "EC PRIVATE KEY", "RSA PRIVATE KEY": return text
        case "OPENSSH PRIVATE KEY":
            throw RequestFailure(
                "the key of the token is in OpenSSH's format: ssh-keygen -p -m PKCS8 -f KEY writes it as PEM")
        case "EC PARAMETERS":
            // OpenSSL writes the curve before the key.
            guard let key = text.firstRange(of: "-----BEGIN EC PRIVATE KEY-----") else { break }
            return String(text[key.lowerBound...])
        default: break
        }
        throw RequestFailure(
            "the key of the token is a \(label.lowercased()): signing needs the private key, -----BEGIN PRIVATE KEY-----"
        )
    }

    /// The key in the first form that fits; the algorithm's own first, so that a weak key of it is told as such.
    private static func read(
        _ pem: String, for algorithm: SignedToken.Algorithm
    ) throws(RequestFailure) -> Kind {
        if let key = try? P256.Signing.PrivateKey(pemRepresentation: pem) { return .p256(key) }
        if let key = try? P384.Signing.PrivateKey(pemRepresentation: pem) { return .p384(key) }
        if (try? P521.Signing.PrivateKey(pemRepresentation: pem)) != nil { return .p521 }
        if let key = try? Curve25519.Signing.PrivateKey(pemRepresentation: pem) { return .ed25519(key) }
        if let key = try? _RSA.Signing.PrivateKey(pemRepresentation: pem) { return .rsa(key) }
        if let weak = try? _RSA.Signing.PrivateKey(unsafePEMRepresentation: pem) {
            throw RequestFailure(
                "the key of the token is an RSA key of \(weak.keySizeInBits) bits: at least 2048 are needed "
                    + "(RFC 7518, section 3.3)")
        }
        throw RequestFailure("the key of the token is damaged, or of a kind that \(algorithm.rawValue) does not use")
    }
}

extension SignedToken.Algorithm {
    /// The key that it needs, for messages.
    fileprivate var keyTitle: String {
        switch self {
        case .es256: "one of the curve P-256"
        case .es384: "one of the curve P-384"
        case .rs256, .ps256: "an RSA key"
        case .edDSA: "an Ed25519 key"
        case .hs256: "a shared secret"
        }
    }
}
