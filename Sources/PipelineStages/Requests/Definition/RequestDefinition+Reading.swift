import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP

extension RequestDefinition {
    /// The settings that a request may have beyond the usual, where it stands.
    struct Options: Sendable {
        /// True if `once` and `onUnknown` may stand in it.
        var allowsOnce = false
        /// True if `"part": true` may stand for the bytes of a part.
        var allowsPart = false
        /// True if its captures are read by name, by the stage and later ones.
        var declaresCaptures = true
        /// True if `paginate` may stand in it: in a list that is looked through.
        var allowsPages = false
        /// Keys that belong here by the format but not to this version, with what to say.
        var refused: [String: String] = [:]
    }

    /// The type of a request's object.
    ///
    /// - Parameter roots: what its templates may read.
    static func type(
        _ roots: AllowedRoots = .request, decorators: DecoratorCatalogue, options: Options = Options()
    ) -> FieldType<RequestDefinition> {
        let fields = RequestFields(roots, decorators: decorators, options: options)
        let table = FieldTable(fields.all)
        return FieldType(schema: fields.schema) { place, findings in
            guard let reader = ObjectReader(place, table: table, findings: findings) else { return nil }
            let definition = fields.read(reader)
            // With mistakes too, for its stage to find those that it has as a whole.
            reader.finish()
            guard var definition else { return nil }
            definition.place = place
            return definition
        }
    }
}

/// The table of a request's fields, from which it is read and its schema made.
struct RequestFields: Sendable {
    static let methods: [HTTPRequest.Method] = [.get, .head, .post, .put, .patch, .delete, .options]

    let methods: [Field<Template>]
    let query: Field<ValueTable>
    let headers: Field<ValueTable>
    let body: BodyFields
    let with: Field<[DecoratorTemplate]>
    let capture: Field<CaptureSet>
    let expect: Field<ExpectedStatuses>
    let fail: Field<[FailRule]>
    let error = Field("error", FieldType<Selector>.selector, "Where the message of an error body stands.")
    let timeout: Field<Setting<Duration>>
    let redirects: Field<Setting<Int>>
    let credentials = Field(
        "credentials", FieldType<RequestDefinition.Credentials>.word("way of sending credentials"), default: "service",
        "Where the service's credentials, and a body that is made from a secret, may go.")
    /// Nil where a request can't have it: in a look-up, which settles others.
    let once: Field<OnceDefinition>?
    let onUnknown = Field(
        "onUnknown", FieldType<RequestDefinition.OnUnknown>.word("way of ending an unknown submit"), default: "ask",
        "What to do when a lost answer can't be settled.")
    /// Nil where a request has no pages.
    let paginate: Field<PaginateDefinition>?
    private let refused: [Field<Never>]

    init(_ roots: AllowedRoots, decorators: DecoratorCatalogue, options: RequestDefinition.Options) {
        methods = Self.methods.map { method in
            Field(method.rawValue, .template(roots), "\(method.rawValue) of this path at the service, or absolute URL.")
        }
        query = Field("query", .table(roots), "Query parameters, name → value.")
        headers = Field("headers", .headerTable(roots), "Header fields, name → value.")
        body = BodyFields(roots, allowsPart: options.allowsPart)
        with = Field("with", decorators.type(roots), "Decorators of this request, the first innermost.")
        capture = Field(
            "capture", .captures(declares: options.declaresCaptures, isSubmitted: options.allowsOnce),
            "Values from the answer, name → selector.")
        fail = Field(
            "fail", FieldType<[FailRule]>.array(of: FailRule.type(roots)),
            "Answers that are failures whatever their status.")
        expect = Field("expect", .statuses(roots), default: ["2xx"], "Statuses that count as success.")
        timeout = Field(
            "timeout", .duration(roots).warning(below: .milliseconds(1)),
            "The longest that the request may take. Without one it ends when nothing has moved for five minutes.")
        redirects = Field(
            "redirects", .count(0...50, roots: roots),
            "How many redirects to follow; 10 with GET and HEAD and none with the rest if nothing is said.")
        once =
            options.allowsOnce
            ? Field("once", OnceDefinition.type(roots, decorators: decorators), "How a lost answer is settled.") : nil
        paginate =
            options.allowsPages
            ? Field("paginate", PaginateDefinition.type(roots, ownsItems: false), "Fetches all pages.") : nil
        refused = options.refused.sorted { $0.key < $1.key }.map { name, message in
            Field(name, .refused(message), message)
        }
    }

    var all: [any AnyField] {
        let common: [any AnyField] = [
            query, headers, with, capture, expect, fail, error, timeout, redirects, credentials,
        ]
        let submit: [any AnyField] = once.map { [$0, onUnknown] } ?? []
        let pages: [any AnyField] = paginate.map { [$0] } ?? []
        return methods + body.all + common + submit + pages + refused
    }

    /// The schema of the object: its keys, and that exactly one of them is a method.
    var schema: JSON {
        let known = all.filter { field in !refused.contains { $0.name == field.name } }
        var schema = known.objectSchema.object ?? [:]
        schema["oneOf"] = .array(methods.map { ["required": [.string($0.name)]] })
        return .object(schema)
    }

    /// The schema of an object that is a request and more, with the properties of all its fields.
    func schema(with fields: [any AnyField]) -> JSON {
        var schema = schema.object ?? [:]
        schema["properties"] = fields.objectSchema["properties"]
        return .object(schema)
    }

    func read(_ reader: ObjectReader) -> RequestDefinition? {
        let before = reader.findings.uses.count
        for field in refused { _ = reader.optional(field) }
        let head = readHead(reader)
        var definition = head ?? RequestDefinition(.get, URLTemplate(captured: ""))
        definition.query = reader.value(query, default: ValueTable())
        definition.headers = reader.value(headers, default: ValueTable())
        let (body, secrets) = reader.findings.countingSecrets { self.body.read(reader) }
        definition.body = body ?? .none
        definition.uses.secretInBody = secrets > 0
        definition.decorators = reader.value(with, default: [])
        warnOfSecondBody(beside: definition, reader)
        definition.decoratorNames = Set(reader.value(DecoratorDefinition.field, default: []).map(\.name))
        definition.capture = reader.value(capture, default: CaptureSet())
        definition.expect = reader.optional(expect)
        definition.fail = reader.value(fail, default: [])
        definition.error = reader.optional(error)
        definition.timeout = reader.optional(timeout)
        definition.redirects = reader.optional(redirects)
        definition.credentials = reader.value(credentials, default: .service)
        if let once {
            definition.once = reader.optional(once)
            definition.onUnknown = reader.value(onUnknown, default: .ask)
        }
        if let paginate {
            definition.paginate = reader.optional(paginate)
            definition.paginate?.check(against: definition, reader.findings)
        }
        for use in reader.findings.uses[before...] {
            switch use.reference.root {
            case .ownKey: definition.uses.ownKey = true
            case .capture(let stage, _): definition.uses.stages.insert(stage)
            case .item: definition.uses.item = true
            default: break
            }
        }
        return head == nil || body == nil ? nil : definition
    }

    /// The body of a request goes before one that a decorator makes, which is not sent then.
    private func warnOfSecondBody(beside definition: RequestDefinition, _ reader: ObjectReader) {
        guard definition.decorators.contains(where: \.makesBody),
            let name = body.all.map(\.name).first(where: { reader.has($0) }), let place = reader.place(of: name)
        else { return }
        reader.findings.warn(
            place, "the form of \"multipart\" is not sent: the body is \"\(name)\"",
            hint: "for a form, put what is in \"\(name)\" into its \"fields\"; take one of the two out")
    }

    private func readHead(_ reader: ObjectReader) -> RequestDefinition? {
        let present = methods.filter { reader.has($0.name) }
        guard let field = present.first, let place = reader.place(of: field.name) else {
            // Another tool's way to say it is told as such.
            let others = ["url", "uri", "method", "path"]
            if reader.place.members?.contains(where: { others.contains($0.member.name.lowercased()) }) == true {
                return nil
            }
            reader.findings.report(
                reader.place, "this request has no method",
                hint: "add one as a key, for example \"GET\": \"/path\"; methods are "
                    + methods.map(\.name).joined(separator: ", "))
            return nil
        }
        if present.count > 1, let second = reader.place(of: present[1].name) {
            reader.findings.report(
                second, "this request has \(present.count) methods",
                hint: "keep one of " + present.map(\.name).joined(separator: ", "))
        }
        guard let template = reader.optional(field), let method = HTTPRequest.Method(field.name) else { return nil }
        let url = URLTemplate(template, at: place.node.range)
        guard isWellFormed(url, place, reader.findings) else { return nil }
        return RequestDefinition(method, url)
    }

    private func isWellFormed(_ url: URLTemplate, _ place: SourceLocation, _ findings: DiagnosticCollector) -> Bool {
        let start = url.start?.lowercased()
        if let start, !start.hasPrefix("/"), !start.hasPrefix("http://"), !start.hasPrefix("https://") {
            findings.report(
                place, "a request's URL begins with / or with http:// or https://",
                hint: start.contains("://") ? nil : "write \"/\(url.start ?? "")\" for a path at the service")
            return false
        }
        if url.pieces.count == 1, let start, let mistake = URLReference(start).authorityMistake {
            findings.report(
                place, "this URL leads nowhere: \(mistake)", hint: "write it like https://api.example.com:8443/v1/path")
            return false
        }
        // Looked at first, since a pattern costs as much as all else that is read of a request.
        let mayHaveSlip = url.literals.utf8.contains { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "$") }
        if mayHaveSlip, let slip = url.literals.firstMatch(of: /\{\{[^}]*\}?\}?|\$\.\w+/) {
            let isBraces = slip.output.hasPrefix("{")
            findings.report(
                place, "\"\(slip.output)\" is sent as it stands here",
                hint: isBraces
                    ? "an expression is written \"$\(slip.output)\"; braces themselves are %7B and %7D in a URL"
                    : "a capture is put in with ${{ stages.ID.NAME }} or ${{ self.NAME }}; a selector takes it out")
            return false
        }
        if let text = url.unsendable {
            findings.report(
                place, "a URL has no spaces and no control characters in it",
                hint: "write a space as %20: \(text.replacing(" ", with: "%20"))")
            return false
        }
        if url.pieces.isEmpty {
            findings.report(place, "this request has no URL", hint: "write \"/\" for the service's own URL")
            return false
        }
        return true
    }
}

extension FieldType where Value == Never {
    /// A key that the format has and this version does not.
    static func refused(_ message: String) -> FieldType {
        FieldType(schema: false) { place, findings in
            findings.report(place, message)
            return nil
        }
    }
}

extension FieldType where Value == ValueTable {
    /// Names and values of header fields.
    static func headerTable(_ roots: AllowedRoots) -> FieldType {
        .table(roots, isASCII: true, checkName: HeaderName.mistake) { value in
            let hasBreak = value.utf8.contains { $0 == 0 || $0 == 10 || $0 == 13 }
            guard hasBreak else { return nil }
            return ValueSyntaxError(
                "a header is one line, and this value has a line break or a NUL in it",
                hint: "write it as one line; an array sends the header once for each element")
        }
    }
}
