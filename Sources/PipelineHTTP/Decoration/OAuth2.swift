import HTTPTypes

/// An access token of OAuth 2.0 by the client-credentials grant, a refresh token
/// (RFC 6749) or an assertion (RFC 7523). It says which grant the
/// request needs; ``AuthorizingTransport`` gets the token and puts it in.
public struct OAuth2: CredentialDecorator {
    private let grant: TokenGrant

    /// Adds an access token, which is fetched when it is needed. Needs an `AuthorizingTransport`.
    public init(_ grant: TokenGrant) {
        self.grant = grant
    }

    public var phase: DecorationPhase { .credentials }
    public var tokenSource: TokenSource? { .endpoint(grant) }
    public var account: String {
        [grant.tokenURL, grant.clientID, grant.scope, grant.audience, grant.refreshToken, grant.assertion?.account]
            .map { $0 ?? "" }.joined(separator: "\u{0}")
    }

    public func decorate(_ request: inout RequestDescription, in context: DecorationContext) throws(RequestFailure) {
        guard request.claimCredentials() else { return }
        guard let parts = URLParts(grant.tokenURL), !parts.authority.isEmpty else {
            throw RequestFailure("the tokenURL \"\(grant.tokenURL.forDisplay)\" is no absolute http or https URL")
        }
        request.tokenSource = tokenSource
        request.credentialFields.insert(.authorization)
    }
}
