import HTTPTypes

/// How an access token is asked for: the client-credentials grant of OAuth 2.0 (RFC 6749, section 4.4), or with a
/// refresh token its section 6. Equal grants share one token.
public struct TokenGrant: Sendable, Hashable {
    /// Absolute.
    public var tokenURL: String
    public var clientID: String
    public var clientSecret: String
    /// Scopes separated by spaces; nil for the client's own.
    public var scope: String?
    /// The API that the token is for, where the service wants it named.
    public var audience: String?
    /// A person's refresh token; then that person's access is asked for and not the client's.
    public var refreshToken: String?

    public init(
        tokenURL: String, clientID: String, clientSecret: String, scope: String? = nil, audience: String? = nil,
        refreshToken: String? = nil
    ) {
        self.tokenURL = tokenURL
        self.clientID = clientID
        self.clientSecret = clientSecret
        self.scope = scope
        self.audience = audience
        self.refreshToken = refreshToken
    }
}

extension TokenGrant {
    /// How a client says who it is.
    enum Authentication: Sendable {
        /// In the `Authorization` header: what RFC 6749, section 2.3.1, wants every server to take.
        case header
        /// In the form, which some servers take instead.
        case form
    }

    /// The request for a token.
    ///
    /// - Parameter rotated: the refresh token that the last answer put in the place of the first one.
    func request(_ authentication: Authentication, rotated: String?) throws(RequestFailure) -> RequestDescription {
        var form: [(name: String, value: String)] = []
        if let refreshToken {
            form = [("grant_type", "refresh_token"), ("refresh_token", rotated ?? refreshToken)]
        } else {
            form = [("grant_type", "client_credentials")]
        }
        if let scope { form.append(("scope", scope)) }
        if let audience { form.append(("audience", audience)) }
        if authentication == .form { form += [("client_id", clientID), ("client_secret", clientSecret)] }
        var request = RequestDescription(method: .post, url: tokenURL, body: .text(PercentEncoding.query(form)))
        request.headers = [.contentType: "application/x-www-form-urlencoded", .accept: "application/json"]
        if authentication == .header {
            // Both are form-encoded first (RFC 6749, section 2.3.1).
            let (user, password) = (PercentEncoding.component(clientID), PercentEncoding.component(clientSecret))
            try request.setCredentialHeader("Authorization", to: Basic.value(user: user, password: password))
        }
        return try RequestBuilder().finished(request)
    }
}
