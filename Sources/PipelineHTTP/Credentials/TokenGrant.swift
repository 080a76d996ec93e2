/// The way in which an access token is asked for: the client-credentials grant of OAuth 2.0 (RFC 6749, section 4.4),
/// with a refresh token its section 6, or with an assertion that is signed here (RFC 7523, section 2.1).
public struct TokenGrant: Sendable, Hashable {
    /// Absolute.
    public var tokenURL: String
    /// Nil where the assertion says who asks.
    public var clientID: String?
    /// Nil for clients that have none: those who act for a person, or sign an assertion.
    public var clientSecret: String?
    /// Scopes separated by spaces; nil for the client's own.
    public var scope: String?
    /// The API that the token is for, where the service wants it named.
    public var audience: String?
    /// A person's refresh token; then that person's access is asked for and not the client's.
    public var refreshToken: String?
    /// The assertion that says who asks; its `aud` is the endpoint unless the claims say another.
    public var assertion: SignedToken?

    /// Asks a token endpoint for access tokens (RFC 6749).
    ///
    /// With a refresh token by section 6; with an assertion by RFC 7523; otherwise with the client's credentials by
    /// section 4.4.
    public init(
        tokenURL: String, clientID: String? = nil, clientSecret: String? = nil, scope: String? = nil,
        audience: String? = nil, refreshToken: String? = nil, assertion: SignedToken? = nil
    ) {
        self.tokenURL = tokenURL
        self.clientID = clientID
        self.clientSecret = clientSecret
        self.scope = scope
        self.audience = audience
        self.refreshToken = refreshToken
        self.assertion = assertion
    }
}
