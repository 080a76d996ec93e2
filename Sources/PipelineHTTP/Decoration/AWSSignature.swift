internal import Crypto
import HTTPTypes

/// Signs a request with AWS Signature Version 4
/// (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html).
///
/// All header fields that the request has are signed, `host` and `x-amz-*` among them, but for those that the way to
/// the service may change. For S3, paths are encoded once and not normalised, and the body's digest goes along in
/// `x-amz-content-sha256`; over https a body from a file is sent there as `UNSIGNED-PAYLOAD`, since TLS protects it and
/// it would be read twice. Any other body is hashed, files included.
///
/// A URL that is signed already (`X-Amz-Signature` in its query) stays as it is. The request of a redirect that credentials
/// follow is signed anew.
public struct AWSSignature: CredentialDecorator {
    /// The region, as `eu-central-1`.
    public let region: String
    /// The service, as `s3`.
    public let service: String
    private let accessKey: String
    private let secretKey: String
    private let sessionToken: String?

    /// Signs each request (AWS Signature Version 4); `sessionToken` for credentials that are temporary.
    public init(region: String, service: String, accessKey: String, secretKey: String, sessionToken: String? = nil) {
        self.region = region
        self.service = service
        self.accessKey = accessKey
        self.secretKey = secretKey
        self.sessionToken = sessionToken
    }

    public var phase: DecorationPhase { .signature }
    public var account: String { accessKey }

    public func decorate(_ request: inout RequestDescription, in context: DecorationContext) throws(RequestFailure) {
        guard request.isAtCredentialOrigin, let parts = try merged(&request) else { return }
        let payload = try payload(of: request, isEncrypted: parts.scheme == "https")
        try sign(&request, parts, payload, at: context.time())
        request.credentials.sign = { [self, time = context.time] request throws(RequestFailure) in
            try signAgain(&request, payload, at: time())
        }
    }

    /// Signs the request of a redirect.
    ///
    /// - Parameter payload: that of the first request: a body that goes along is not read again.
    private func signAgain(
        _ request: inout RequestDescription, _ payload: String, at time: Duration
    ) throws(RequestFailure) {
        for name in [.authorization, Self.date, Self.token] { request.headers[name] = nil }
        if isStorage { request.headers[Self.digest] = nil }
        guard let parts = try merged(&request) else { return }
        let payload = request.body.isNone ? SHA256.hash(data: [UInt8]()).hex : payload
        try sign(&request, parts, payload, at: time)
    }

    /// Merges the query into the URL: what is signed must be what is sent. Nil for a URL that is signed already.
    private func merged(_ request: inout RequestDescription) throws(RequestFailure) -> URLParts? {
        let url = try request.absoluteURL()
        guard let parts = URLParts(url) else { throw RequestFailure("this URL can't be signed") }
        let query = AWSCanonical.parameters(of: parts.query)
        guard !query.contains(where: { $0.name == "X-Amz-Signature" }) else { return nil }
        request.url = url
        request.query = []
        return parts
    }

    private func sign(
        _ request: inout RequestDescription, _ parts: URLParts, _ payload: String, at now: Duration
    ) throws(RequestFailure) {
        let time = AWSCanonical.time(now)
        try request.setHeader("X-Amz-Date", to: time)
        if let sessionToken, !sessionToken.isEmpty {
            try request.setCredentialHeader("X-Amz-Security-Token", to: sessionToken)
        }
        if isStorage { try request.setHeader("X-Amz-Content-Sha256", to: payload) }
        let fields = AWSCanonical.fields(of: request.headers, host: Self.host(of: parts))
        let names = fields.map(\.name).joined(separator: ";")
        let canonical = [
            request.method.rawValue, AWSCanonical.path(parts.path, isStorage: isStorage),
            AWSCanonical.text(of: AWSCanonical.parameters(of: parts.query)),
            fields.map { "\($0.name):\($0.value)\n" }.joined(), names, payload,
        ].joined(separator: "\n")
        let scope = "\(time.prefix(8))/\(region)/\(service)/aws4_request"
        let text = "AWS4-HMAC-SHA256\n\(time)\n\(scope)\n\(SHA256.hash(data: Array(canonical.utf8)).hex)"
        let signature = Self.code(text, key: key(day: String(time.prefix(8)))).hex
        try request.setCredentialHeader(
            "Authorization",
            to: "AWS4-HMAC-SHA256 Credential=\(accessKey)/\(scope), SignedHeaders=\(names), Signature=\(signature)")
    }

    private static let date = HTTPField.Name("X-Amz-Date")!
    private static let token = HTTPField.Name("X-Amz-Security-Token")!
    private static let digest = HTTPField.Name("X-Amz-Content-Sha256")!

    private var isStorage: Bool { service == "s3" }

    private func payload(of request: RequestDescription, isEncrypted: Bool) throws(RequestFailure) -> String {
        if isStorage, let given = request.headers[Self.digest] { return given }
        let segments = request.body.segments
        let readsFiles = segments.contains { if case .bytes = $0 { false } else { true } }
        if isStorage, isEncrypted, readsFiles { return "UNSIGNED-PAYLOAD" }
        var hasher = SHA256()
        try BodyReader(segments).forEach { hasher.update(bufferPointer: $0) }
        return hasher.finalize().hex
    }

    private func key(day: String) -> SymmetricKey {
        var key = SymmetricKey(data: Array("AWS4\(secretKey)".utf8))
        for part in [day, region, service, "aws4_request"] { key = SymmetricKey(data: Self.code(part, key: key)) }
        return key
    }

    private static func code(_ text: String, key: SymmetricKey) -> HMAC<SHA256>.MAC {
        HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key)
    }

    /// As the transport sends it: without the port that the scheme has anyway.
    private static func host(of parts: URLParts) -> String {
        let usual = parts.scheme == "https" ? ":443" : ":80"
        let host = parts.authority.hasSuffix(usual) ? String(parts.authority.dropLast(usual.count)) : parts.authority
        return host.lowercased()
    }
}
