import JSONPath
import PipelineCore
import PipelineHTTP

extension DecoratorKind {
    /// `"oauth2": { "tokenURL": …, "clientID": …, "clientSecret": …, "scope": …, "audience": … }`
    static let oauth2 = DecoratorKind(
        "oauth2", "An access token of OAuth 2.0, got with the client's credentials and renewed before it expires."
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
    let refreshToken: Field<Template>

    init(_ roots: AllowedRoots) {
        let type = FieldType<Template>.template(roots)
        tokenURL = Field(
            "tokenURL", type, required: true, examples: ["https://auth.example.com/oauth/token"],
            "Where tokens are given.")
        clientID = Field("clientID", type, required: true, "The client's name there.")
        clientSecret = Field(
            "clientSecret", type, required: true, examples: ["${{ secrets.CLIENT_SECRET }}"], "The client's secret.")
        scope = Field("scope", type, "What the token is to allow, separated by spaces.")
        audience = Field("audience", type, "The API that the token is for, where the service wants it named.")
        refreshToken = Field(
            "refreshToken", type, "A person's refresh token, to act for that person instead of for the client.")
    }

    var all: [any AnyField] { [tokenURL, clientID, clientSecret, scope, audience, refreshToken] }

    func read(_ reader: ObjectReader) -> DecoratorTemplate? {
        let url = reader.required(tokenURL)
        let client = reader.required(clientID)
        let secret = reader.required(clientSecret)
        let others = [reader.optional(scope), reader.optional(audience), reader.optional(refreshToken)]
        guard let url, let client, let secret else { return nil }
        return DecoratorTemplate(isCredential: true) { context throws(EvaluationFailure) in
            var texts: [String?] = []
            for template in others { texts.append(try template?.evaluateText(in: context.scope)) }
            return OAuth2(
                TokenGrant(
                    tokenURL: try url.evaluateText(in: context.scope),
                    clientID: try client.evaluateText(in: context.scope),
                    clientSecret: try secret.evaluateText(in: context.scope), scope: texts[0], audience: texts[1],
                    refreshToken: texts[2]))
        }
    }
}
