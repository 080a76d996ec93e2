import JSONPath
import PipelineCore
import PipelineHTTP

/// The table of the fields of a token that is signed here: `jwt`, and the `assertion` of `oauth2`.
struct SignedTokenFields: Sendable {
    typealias Resolve = @Sendable (Scope) throws(EvaluationFailure) -> SignedToken

    let algorithm = Field(
        "algorithm", FieldType<SignedToken.Algorithm>.word("algorithm"), required: true,
        "How it is signed; the key must be of the fitting kind.")
    let key: Field<Template>
    let keyID: Field<Template>
    let header: Field<SignedTokenMembers>
    let claims: Field<SignedTokenMembers>
    let lifetime: Field<Setting<Duration>>

    init(_ roots: AllowedRoots) {
        let text = FieldType<Template>.template(roots)
        key = Field(
            "key", text, required: true, examples: ["${{ secrets.SIGNING_KEY }}", "@AuthKey.p8"],
            "The private key as PEM, not encrypted; or @FILE, relative to the document. With HS256 the shared secret.")
        keyID = Field("keyID", text, "Which of the signer's keys it is: kid.")
        header = Field("header", .members(roots), "More of the token's header.")
        claims = Field(
            "claims", .members(roots), examples: [["iss": "${{ secrets.ISSUER }}", "aud": "api"]],
            "What the token says; iat and exp are added.")
        lifetime = Field(
            "lifetime", .duration(roots).warning(below: .seconds(1)), default: "15m",
            "How long it is good; a new one is made before it ends.")
    }

    var all: [any AnyField] { [algorithm, key, keyID, header, claims, lifetime] }

    /// Returns what makes the token once values are known; nil after having reported mistakes.
    func read(_ reader: ObjectReader) -> Resolve? {
        let algorithm = reader.required(algorithm)
        let key = reader.required(key)
        let keyID = reader.optional(keyID)
        let header = reader.value(header, default: SignedTokenMembers())
        let claims = reader.value(claims, default: SignedTokenMembers())
        let lifetime = reader.value(lifetime, default: .constant(.seconds(900)))
        guard let algorithm, let key else { return nil }
        return { scope throws(EvaluationFailure) in
            let text = try key.evaluateText(in: scope)
            let isFile = text.hasPrefix("@")
            let path = isFile ? LocalSource.absolute(String(text.dropFirst()), in: scope.baseFolder) : ""
            return SignedToken(
                algorithm: algorithm, key: isFile ? .file(path) : .text(text),
                keyID: try keyID?.evaluateText(in: scope), header: try header.members(in: scope),
                claims: try claims.members(in: scope), lifetime: try lifetime.value(in: scope))
        }
    }
}

/// The members of a token's header or claims as the document has them.
struct SignedTokenMembers: Sendable {
    fileprivate var template = JSONTemplate(constant: [:])
    fileprivate var range = SourceRange(start: 0, end: 0)

    func members(in scope: Scope) throws(EvaluationFailure) -> [SignedToken.Member] {
        let value = try template.evaluate(in: scope)
        guard case .object(let object) = value else {
            throw .wrong(
                message: "the claims of a token are an object, and here is \(value.kindName)",
                hint: value.string == nil ? nil : "parse(…) makes an object of a text of JSON", range: range)
        }
        return object.map { SignedToken.Member(name: $0.name, json: $0.value.text) }
    }
}

extension FieldType where Value == SignedTokenMembers {
    /// An object, or an expression that gives one.
    fileprivate static func members(_ roots: AllowedRoots) -> FieldType {
        FieldType(schema: ["type": ["object", "string"]]) { place, findings in
            guard let template = FieldType<JSONTemplate>.json(roots).read(place, findings) else { return nil }
            let mayBeObject = place.node.content.isObject || template.constant == nil && !place.node.content.isArray
            guard mayBeObject else {
                findings.report(
                    place, "this must be an object of names and values",
                    hint: #"{ "iss": "…", "aud": "…" }, or "${{ parse(secrets.CLAIMS) }}""#)
                return nil
            }
            return SignedTokenMembers(template: template, range: place.node.range)
        }
    }
}
