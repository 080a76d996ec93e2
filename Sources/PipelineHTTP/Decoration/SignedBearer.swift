import HTTPTypes

/// A bearer token that is signed here (RFC 7519). It says which token the request needs; ``AuthorizingTransport`` makes
/// it, once a lifetime, and puts it in.
public struct SignedBearer: CredentialDecorator {
    private let token: SignedToken

    /// Adds a token that is signed again for each request.
    public init(_ token: SignedToken) {
        self.token = token
    }

    public var phase: DecorationPhase { .credentials }
    public var tokenSource: TokenSource? { .signed(token) }
    public var account: String { token.account }

    public func decorate(_ request: inout RequestDescription, in context: DecorationContext) {
        guard request.claimCredentials() else { return }
        request.tokenSource = tokenSource
        request.credentialFields.insert(.authorization)
    }
}
