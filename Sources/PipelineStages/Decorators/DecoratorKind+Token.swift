import JSONPath
import PipelineCore
import PipelineHTTP

extension DecoratorKind {
    /// `"jwt": { "algorithm": "ES256", "key": …, "keyID": …, "claims": {…} }`
    static let jwt = DecoratorKind(
        "jwt", "A token that is signed here with a key (RFC 7519), made anew before it ends."
    ) { roots in
        let fields = SignedTokenFields(roots)
        return .object(fields.all) { reader in
            fields.read(reader).map { resolve in
                DecoratorTemplate(isCredential: true) { context throws(EvaluationFailure) in
                    SignedBearer(try resolve(context.scope))
                }
            }
        }
    }

    /// `"oauth2": { "tokenURL": …, "clientID": …, "clientSecret": …, "scope": …, "audience": … }`
    static let oauth2 = DecoratorKind(
        "oauth2",
        "An access token of OAuth 2.0, got with the client's credentials, an assertion or a refresh token, and renewed "
            + "before it expires."
    ) { roots in
        let fields = TokenFields(roots)
        return .object(fields.all) { reader in fields.read(reader) }
    }
}

/// The table of the fields of `oauth2`.
private struct TokenFields: Sendable {
    let tokenURL: Field<Template>
    let clientID: Field<Template>
    let clientSecret: Field<Template>
    let scope: Field<Template>
    let audience: Field<Template>
    let assertion: Field<SignedTokenFields.Resolve>
    let refreshToken: Field<Template>

    init(_ roots: AllowedRoots) {
        let type = FieldType<Template>.template(roots)
        tokenURL = Field(
            "tokenURL", type, required: true, examples: ["https://auth.example.com/oauth/token"],
            "Where tokens are given.")
        clientID = Field("clientID", type, "The client's name there; needed without an assertion.")
        clientSecret = Field(
            "clientSecret", type, examples: ["${{ secrets.CLIENT_SECRET }}"],
            "The client's secret; needed without an assertion or a refresh token.")
        scope = Field("scope", type, "What the token is to allow, separated by spaces.")
        audience = Field("audience", type, "The API that the token is for, where the service wants it named.")
        let signed = SignedTokenFields(roots)
        assertion = Field(
            "assertion", .object(signed.all) { signed.read($0) },
            "A token signed here that says who asks (RFC 7523); aud is the tokenURL unless its claims say another.")
        refreshToken = Field(
            "refreshToken", type,
            "A person's refresh token, to act for that person; one that the service puts in its place is kept sealed.")
    }

    var all: [any AnyField] { [tokenURL, clientID, clientSecret, scope, audience, assertion, refreshToken] }

    func read(_ reader: ObjectReader) -> DecoratorTemplate? {
        let url = reader.required(tokenURL)
        let signed = reader.optional(assertion)
        let others = [clientID, clientSecret, scope, audience, refreshToken].map { reader.optional($0) }
        guard check(reader), checkURL(url, reader), let url, signed != nil || !reader.has("assertion") else {
            return nil
        }
        return DecoratorTemplate(isCredential: true) { context throws(EvaluationFailure) in
            var texts: [String?] = []
            for template in others { texts.append(try template?.evaluateText(in: context.scope)) }
            return OAuth2(
                TokenGrant(
                    tokenURL: try url.evaluateText(in: context.scope), clientID: texts[0], clientSecret: texts[1],
                    scope: texts[2], audience: texts[3], refreshToken: texts[4],
                    assertion: try signed?(context.scope)))
        }
    }

    /// Returns whether the address may be one: it is no path at the service.
    private func checkURL(_ url: Template?, _ reader: ObjectReader) -> Bool {
        guard case .literal(let start)? = url?.pieces.first, let place = reader.place(of: tokenURL.name),
            !["http://", "https://"].contains(where: start.lowercased().hasPrefix)
        else { return true }
        reader.findings.report(
            place, "a tokenURL begins with http:// or https://",
            hint: "it is another server as a rule; write it out: https://auth.example.com\(start)")
        return false
    }

    /// Returns whether something says who asks, in one way.
    private func check(_ reader: ObjectReader) -> Bool {
        if reader.has("assertion"), reader.has("refreshToken"), let place = reader.place(of: "refreshToken") {
            reader.findings.report(
                place, "a token is asked for by an \"assertion\" or by a \"refreshToken\", not by both",
                hint: "keep one of them")
            return false
        }
        let needed =
            reader.has("assertion")
            ? reader.has("clientSecret") ? ["clientID"] : []
            : reader.has("refreshToken") ? ["clientID"] : ["clientID", "clientSecret"]
        let missing = needed.filter { !reader.has($0) }
        guard let first = missing.first else { return true }
        reader.findings.report(
            reader.place, "'\(first)' is missing",
            hint:
                "a client says who it is by \"clientID\" and \"clientSecret\", an \"assertion\", or a \"refreshToken\"")
        return false
    }
}
