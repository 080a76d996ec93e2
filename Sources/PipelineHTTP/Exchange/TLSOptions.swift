/// Whom to trust over TLS, and who we are. The system's roots unless said otherwise.
public struct TLSOptions: Sendable, Equatable {
    /// The oldest protocol version that is accepted.
    public enum Version: String, Sendable, Equatable {
        case tls12 = "1.2"
        case tls13 = "1.3"
    }

    /// A PEM file of authorities, instead of the system's.
    public var ca: String?
    /// A PEM file with the client's certificate.
    public var certificate: String?
    /// A PEM file with the certificate's private key.
    public var key: String?
    /// The password of the key file.
    public var keyPassword: String?
    /// `sha256//BASE64` of a public key each: unless one matches the connection is refused
    /// (https://curl.se/libcurl/c/CURLOPT_PINNEDPUBLICKEY.html).
    public var pinnedPublicKeys: [String]
    /// The oldest version that is accepted; nil for libcurl's.
    public var minimumVersion: Version?

    /// Paths of PEM files, and pins as `sha256//…` (CURLOPT_PINNEDPUBLICKEY(3)).
    public init(
        ca: String? = nil,
        certificate: String? = nil,
        key: String? = nil,
        keyPassword: String? = nil,
        pinnedPublicKeys: [String] = [],
        minimumVersion: Version? = nil
    ) {
        self.ca = ca
        self.certificate = certificate
        self.key = key
        self.keyPassword = keyPassword
        self.pinnedPublicKeys = pinnedPublicKeys
        self.minimumVersion = minimumVersion
    }

    /// Takes away what says who we are: for an origin that it is not meant for.
    package mutating func forgetIdentity() { (certificate, key, keyPassword) = (nil, nil, nil) }
}
