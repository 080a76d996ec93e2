import JSONPath

/// A request that carries an event (https://www.standardwebhooks.com).
package struct WebhookDefinition: Sendable {
    package let method: String
    package let url: Template
    package let query: [Named<JSONTemplate>]
    package let headers: [Named<JSONTemplate>]
    /// A body instead of the event, for services that want one of their own.
    package let body: JSONTemplate?
    package let decorators: [DecoratorDefinition]
    package let timeout: Setting<Duration>?
    /// The secret that signs it.
    package let signature: Template?

    static let methodFields = ["POST", "PUT", "PATCH", "GET"].map { method in
        Field(method, FieldType<Template>.template(.service), "\(method) of this absolute URL.")
    }
    static let queryField = Field(
        "query", FieldType<[Named<JSONTemplate>]>.map(of: .json(.service)), "Query parameters, name → value.")
    static let headersField = Field(
        "headers", FieldType<[Named<JSONTemplate>]>.map(of: .json(.service)), "Header fields, name → value.")
    static let bodyField = Field(
        "json", FieldType<JSONTemplate>.json(.service), "The body, instead of the event itself.")
    static let timeoutField = Field(
        "timeout", .duration(.service).warning(below: .milliseconds(1)), "The longest that it may take.")
    static let signatureField = Field(
        "sign", FieldType<Template>.template(.service), examples: ["${{ secrets.HOOK }}"], "The secret that signs it.")

    static var fields: [any AnyField] {
        methodFields + [queryField, headersField, bodyField, DecoratorDefinition.field, timeoutField, signatureField]
    }

    static var type: FieldType<WebhookDefinition> {
        let table = FieldTable(fields)
        return FieldType(schema: schema) { place, findings in
            guard let reader = ObjectReader(place, table: table, findings: findings) else { return nil }
            let webhook = read(reader)
            return reader.finish() ? webhook : nil
        }
    }

    private static var schema: JSON {
        var schema = fields.objectSchema.object ?? [:]
        schema["oneOf"] = .array(methodFields.map { ["required": [.string($0.name)]] })
        return .object(schema)
    }

    private static func read(_ reader: ObjectReader) -> WebhookDefinition? {
        let head = readHead(reader)
        let query = reader.value(queryField, default: [])
        let headers = reader.value(headersField, default: [])
        let body = reader.optional(bodyField)
        let decorators = reader.value(DecoratorDefinition.field, default: [])
        let timeout = reader.optional(timeoutField)
        let signature = reader.optional(signatureField)
        return head.map { method, url in
            WebhookDefinition(
                method: method, url: url, query: query, headers: headers, body: body, decorators: decorators,
                timeout: timeout, signature: signature)
        }
    }

    private static func readHead(_ reader: ObjectReader) -> (String, Template)? {
        let present = methodFields.filter { reader.has($0.name) }
        guard let field = present.first, let place = reader.place(of: field.name) else {
            if !reader.hasUnknownKeys {
                reader.findings.report(
                    reader.place, "this webhook has no URL", hint: "add \"POST\": \"https://example.com/hook\"")
            }
            return nil
        }
        if present.count > 1, let second = reader.place(of: present[1].name) {
            reader.findings.report(
                second, "this webhook has \(present.count) methods",
                hint: "keep one of " + present.map(\.name).joined(separator: ", "))
        }
        let url = reader.optional(field)
        if let text = url?.constant, !text.hasPrefix("http://"), !text.hasPrefix("https://") {
            reader.findings.report(
                place, "a webhook's URL begins with http:// or https://",
                hint: "a webhook belongs to no service, so write the whole URL")
        }
        return url.map { (field.name, $0) }
    }
}
