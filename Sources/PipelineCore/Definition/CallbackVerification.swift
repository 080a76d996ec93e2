import JSONPath

/// The way in which a callback proves that it comes from the service.
package enum CallbackVerification: Sendable {
    /// Standard Webhooks 1.0.0: a signature over id, time and body (standardwebhooks.com). The secret may begin with
    /// `whsec_`, base64 follows.
    case standardWebhooks(Template)
    /// A secret that comes as it is.
    case token(CallbackToken)
    /// A keyed hash of the body in a header.
    case hmac(CallbackSignature)

    private static let standardField = Field(
        "standardWebhooks", FieldType<Template>.template(), examples: ["${{ secrets.HOOK }}"],
        "The secret of Standard Webhooks signatures.")
    private static let tokenField = Field(
        "token", CallbackToken.type, examples: ["${{ secrets.HOOK }}"],
        "A secret that each push brings, by default as Authorization: Bearer.")
    private static let hmacField = Field(
        "hmac", CallbackSignature.type, examples: [["secret": "${{ secrets.HOOK }}", "header": "X-Hub-Signature-256"]],
        "A keyed hash of the body in a header.")

    private static let fields: [any AnyField] = [standardField, tokenField, hmacField]

    static var type: FieldType<CallbackVerification> {
        let table = FieldTable(fields)
        return FieldType(schema: schema) { place, findings in
            guard let reader = ObjectReader(place, table: table, findings: findings) else { return nil }
            let found: [CallbackVerification?] = [
                reader.optional(standardField).map { .standardWebhooks($0) },
                reader.optional(tokenField).map { .token($0) }, reader.optional(hmacField).map { .hmac($0) },
            ]
            let present = fields.map(\.name).filter { reader.has($0) }
            if present.count != 1, !reader.hasUnknownKeys {
                findings.report(
                    place, "'verify' names one way to verify, and this one has \(present.count)",
                    hint: "keep one of " + fields.map { "\"\($0.name)\"" }.joined(separator: ", "))
            }
            return reader.finish() && present.count == 1 ? found.compactMap(\.self).first : nil
        }
    }

    private static var schema: JSON {
        var schema = fields.objectSchema.object ?? [:]
        schema["oneOf"] = .array(fields.map { ["required": [.string($0.name)]] })
        return .object(schema)
    }
}

/// A secret that each push brings.
package struct CallbackToken: Sendable {
    package let value: Template
    /// The header that it comes in; nil for `Authorization: Bearer`, unless ``query`` is given.
    package let header: String?
    /// The query parameter that it comes in.
    package let query: String?

    private static let valueField = Field("value", FieldType<Template>.template(), required: true, "The secret.")
    private static let headerField = Field("header", .string, examples: ["X-Webhook-Token"], "The header it comes in.")
    private static let queryField = Field("query", .string, "The query parameter it comes in.")

    static var type: FieldType<CallbackToken> {
        let plain = FieldType<Template>.template().map { CallbackToken(value: $0, header: nil, query: nil) }
        let object = FieldType<CallbackToken>.object([valueField, headerField, queryField]) { reader in
            let (header, query) = (reader.optional(headerField), reader.optional(queryField))
            return reader.required(valueField).map { CallbackToken(value: $0, header: header, query: query) }
        }
        return .either(object, when: { $0.isObject }, or: plain)
    }
}

/// A keyed hash of a push's body.
package struct CallbackSignature: Sendable {
    package enum Algorithm: String, Sendable, CaseIterable { case sha256, sha1, sha512 }
    package enum Encoding: String, Sendable, CaseIterable { case hex, base64 }

    package let secret: Template
    package let header: String
    package let algorithm: Algorithm
    package let encoding: Encoding
    /// True if the header reads `t=SECONDS,v1=HASH` and the hash is of `SECONDS.BODY`, as Stripe and Mux do it.
    package let isTimestamped: Setting<Bool>
    /// The header that holds the push's id, by which it is told from a repetition.
    package let id: String?

    private static let secretField = Field("secret", FieldType<Template>.template(), required: true, "The key.")
    private static let headerField = Field(
        "header", .string, required: true, examples: ["X-Hub-Signature-256"], "The header with the hash.")
    private static let algorithmField = Field(
        "algorithm", FieldType<Algorithm>.word("algorithm"), default: "sha256", "The hash function.")
    private static let encodingField = Field(
        "encoding", FieldType<Encoding>.word("encoding"), default: "hex", "How the hash is written.")
    private static let timestampedField = Field(
        "timestamped", .flag(), default: false,
        "Whether the header reads t=SECONDS,v1=HASH and the hash is of SECONDS.BODY.")
    private static let idField = Field(
        "id", .string, examples: ["X-GitHub-Delivery"], "The header with the push's id, to tell repetitions.")

    static var type: FieldType<CallbackSignature> {
        .object([secretField, headerField, algorithmField, encodingField, timestampedField, idField]) { reader in
            let algorithm = reader.value(algorithmField, default: .sha256)
            let encoding = reader.value(encodingField, default: .hex)
            let isTimestamped = reader.value(timestampedField, default: .constant(false))
            let id = reader.optional(idField)
            guard let secret = reader.required(secretField), let header = reader.required(headerField) else {
                return nil
            }
            return CallbackSignature(
                secret: secret, header: header, algorithm: algorithm, encoding: encoding,
                isTimestamped: isTimestamped, id: id)
        }
    }
}
