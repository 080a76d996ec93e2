import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP

extension DecoratorKind {
    /// `"bearer": "${{ secrets.TOKEN }}"`
    static let bearer = DecoratorKind("bearer", "A bearer token.") { roots in
        FieldType<Template>.template(roots).map { token in
            DecoratorTemplate(isCredential: true) { context throws(EvaluationFailure) in
                Bearer(token: try token.evaluateText(in: context.scope))
            }
        }
    }

    /// `"basic": { "user": …, "password": … }`
    static let basic = DecoratorKind("basic", "A user and a password.") { roots in
        let user = Field("user", FieldType<Template>.template(roots), required: true, "The user.")
        let password = Field("password", FieldType<Template>.template(roots), required: true, "The password.")
        return .object([user, password]) { reader in
            let user = reader.required(user)
            let password = reader.required(password)
            guard let user, let password else { return nil }
            return DecoratorTemplate(isCredential: true) { context throws(EvaluationFailure) in
                Basic(
                    user: try user.evaluateText(in: context.scope),
                    password: try password.evaluateText(in: context.scope))
            }
        }
    }

    /// `"apiKey": { "header": NAME, "value": … }`, or `"query"` instead of `"header"`
    static let apiKey = DecoratorKind("apiKey", "A key in a header or a query parameter.") { roots in
        let header = Field("header", FieldType<String>.headerName, "The header that holds it.")
        let query = Field("query", FieldType<String>.string, "The query parameter that holds it.")
        let value = Field("value", FieldType<Template>.template(roots), required: true, "The key.")
        return .object([header, query, value]) { reader in
            let header = reader.optional(header)
            let query = reader.optional(query)
            let value = reader.required(value)
            guard reader.has("header") != reader.has("query") else {
                reader.findings.report(
                    reader.place, "an API key stands either in a \"header\" or in the \"query\"",
                    hint: reader.has("header")
                        ? "keep one of them" : "add for example \"header\": \"X-API-Key\", or \"query\": \"key\"")
                return nil
            }
            guard let value, let place = header.map(APIKey.Place.header) ?? query.map(APIKey.Place.query) else {
                return nil
            }
            return DecoratorTemplate(isCredential: true) { context throws(EvaluationFailure) in
                APIKey(place, value: try value.evaluateText(in: context.scope))
            }
        }
    }

    /// `"idempotencyKey": { "header": NAME, "quoted": true }`; put on requests that change something.
    static let idempotencyKey = DecoratorKind(
        "idempotencyKey",
        "A key by which the service knows a repetition, the same over retries and restarts; each page of a list has "
            + "its own, polls and look-ups have none."
    ) { roots in
        let header = Field(
            "header", FieldType<String>.headerName, default: "Idempotency-Key", "The header that carries it.")
        let quoted = Field(
            "quoted", FieldType<Setting<Bool>>.flag(roots), default: false, "Whether it is sent in quotes.")
        return .object([header, quoted]) { reader in
            let header = reader.value(header, default: "Idempotency-Key")
            let isQuoted = reader.value(quoted, default: .constant(false))
            return DecoratorTemplate { context throws(EvaluationFailure) in
                let changes = [.post, .put, .patch, .delete].contains(context.method)
                return changes ? IdempotencyKey(header: header, quoted: try isQuoted.value(in: context.scope)) : nil
            }
        }
    }
}

extension FieldType where Value == String {
    /// The name of a header field.
    static var headerName: FieldType {
        FieldType(schema: ["type": "string"]) { place, findings in
            guard let name = FieldType<String>.string.read(place, findings) else { return nil }
            guard let mistake = HeaderName.mistake(name) else { return name }
            findings.report(place, mistake.message, hint: mistake.hint)
            return nil
        }
    }
}
