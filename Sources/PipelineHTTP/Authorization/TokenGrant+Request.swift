import HTTPTypes

extension TokenGrant {
    /// The way in which a client says who it is.
    enum Authentication: Sendable {
        /// In the `Authorization` header: what RFC 6749, section 2.3.1, wants every server to take.
        case header
        /// In the form, which some servers take instead.
        case form
    }

    /// The ways that a client may have to be tried in until one has worked.
    var authentications: [Authentication] { clientSecret == nil ? [.form] : [.header, .form] }

    /// The client and the endpoint, by which a refresh token is kept.
    var account: String { "\(tokenURL)\n\(clientID ?? "")" }

    /// The request for a token.
    ///
    /// - Parameters:
    ///   - rotated: the refresh token that the last answer put in the place of the first one.
    ///   - assertion: the text of one that was signed for this request.
    func request(
        _ authentication: Authentication, rotated: String?, assertion: String?
    ) throws(RequestFailure) -> RequestDescription {
        var form: [(name: String, value: String)] = []
        if let refreshToken {
            form = [("grant_type", "refresh_token"), ("refresh_token", rotated ?? refreshToken)]
        } else if let assertion {
            form = [("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"), ("assertion", assertion)]
        } else {
            form = [("grant_type", "client_credentials")]
        }
        if let scope { form.append(("scope", scope)) }
        if let audience { form.append(("audience", audience)) }
        if authentication == .form {
            if let clientID { form.append(("client_id", clientID)) }
            if let clientSecret { form.append(("client_secret", clientSecret)) }
        }
        var request = RequestDescription(method: .post, url: tokenURL, body: .text(PercentEncoding.query(form)))
        request.headers = [.contentType: "application/x-www-form-urlencoded", .accept: "application/json"]
        if authentication == .header, let clientID, let clientSecret {
            // Both are form-encoded first (RFC 6749, section 2.3.1).
            let (user, password) = (PercentEncoding.component(clientID), PercentEncoding.component(clientSecret))
            try request.setCredentialHeader("Authorization", to: Basic.value(user: user, password: password))
        }
        return try RequestBuilder().finished(request)
    }

    /// Returns the text of the assertion, signed for one request; nil where the client says who it is in another way.
    ///
    /// - Parameters:
    ///   - now: the time since 1 January 1970 UTC.
    ///   - identifier: names this assertion and no other.
    func signedAssertion(now: Duration, identifier: String) throws(RequestFailure) -> String? {
        guard refreshToken == nil, let addressed else { return nil }
        return try addressed.text(now: now, identifier: identifier)
    }

    /// The assertion with the endpoint as its audience (RFC 7523, section 3), unless the claims name one.
    private var addressed: SignedToken? {
        guard var assertion else { return nil }
        if !assertion.claims.contains(where: { $0.name == "aud" }) {
            let escaped = tokenURL.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
            assertion.claims.append(SignedToken.Member(name: "aud", json: "\"\(escaped)\""))
        }
        assertion.isUnique = true
        return assertion
    }
}
