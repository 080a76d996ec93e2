import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP

/// Puts values into one request: a pure function of the scope but for a look at the files that are sent.
struct RequestRendering {
    @Indirect private(set) var definition: RequestDefinition
    /// Those of the stage: its service, its network, the decorators from outside.
    let requests: StageRequests
    let scope: Scope
    let part: BodySegment?
    /// The `traceparent` for a service that wants one; nil where nothing is sent.
    var trace: String?

    private var service: ServiceDefinition? { requests.service }

    func rendered(role: String?) throws(EvaluationFailure) -> RenderedRequest {
        let base = try service.map { service throws(EvaluationFailure) in try ServiceURL(service, in: scope) }
        let url = try absoluteURL(base)
        let isAtHome = base?.origin == URLParts(url)?.origin
        let reach = CredentialScope(definition, in: scope, hasService: service != nil, isServiceOrigin: isAtHome)
        let secretBody = SecretBody(of: definition, requests.outerDecorators)
        if let secretBody, !reach.includes(secretBody) { throw withheldBody(from: url) }
        var description = RequestDescription(method: definition.method, url: url)
        description.bodyHoldsSecret = secretBody != nil
        // Decorators may lead it elsewhere, and what is said here was said for this place.
        if definition.credentials != .anyOrigin { description.credentialOrigin = URLParts(url)?.origin }
        description.credentialParameters.formUnion(definition.query.secretNames)
        description.query = try table(definition.query, reach).pairs(in: scope)
        try addHeaders(to: &description, reach)
        if isAtHome, let trace { description.headers[.traceparent] = trace }
        let type = try addBody(to: &description)
        let templates = reach.allowed(definition.decorators, requests.outerDecorators)
        let decorators = try made(templates, for: &description)
        if let type { description.setDefaultType(type, beside: decorators) }
        var rendered = RenderedRequest(
            description: description, decorators: decorators,
            options: try options(identifies: isAtHome || definition.credentials == .anyOrigin),
            key: [scope.ownKey, role].compactMap(\.self).joined(separator: "-"), definition: definition)
        rendered.secrets = scope.secrets
        rendered.withholdsCredentials =
            definition.credentials != .none
            && reach.withholds(definition.headers, definition.decorators, requests.outerDecorators)
        rendered.lastingAccount = lastingAccount(of: templates, at: url, reach)
        return rendered
    }

    /// Makes the decorators, and notes what they will fill from secrets.
    func made(
        _ templates: [DecoratorTemplate], for description: inout RequestDescription
    ) throws(EvaluationFailure) -> [any RequestDecorator] {
        var decorators: [any RequestDecorator] = []
        let context = DecorationScope(scope: scope, method: definition.method, part: part)
        for template in templates {
            guard let decorator = try template.resolve(context) else { continue }
            decorators.append(decorator)
            description.credentialParameters.formUnion(template.credentialParameters)
            for name in template.credentialFields.compactMap({ HTTPField.Name($0) }) {
                description.credentialFields.insert(name)
            }
        }
        return decorators
    }

    private func absoluteURL(_ base: ServiceURL?) throws(EvaluationFailure) -> String {
        let text = try definition.url.text(in: scope)
        if text.hasPrefix("/") {
            guard let base else {
                throw .wrong(
                    message: "the URL \"\(text)\" is a path, and the stage names no service that it could belong to",
                    hint: "add \"service\": \"NAME\" to the stage", range: definition.url.range)
            }
            return base.appending(text, identifies: definition.credentials != .none)
        }
        guard let parts = URLParts(text), !parts.authority.isEmpty else {
            throw .wrong(
                message: "\"\(text)\" is neither a path that begins with / nor an absolute http or https URL",
                hint: "a value that an answer gave becomes absolute with \"url\": true in its capture",
                range: definition.url.range)
        }
        return text
    }

    /// Neither sent there nor left out: without it the request would be another one.
    private func withheldBody(from url: String) -> EvaluationFailure {
        .wrong(
            message: "the body is made from a secret, which may not go to \(URLParts(url)?.origin ?? url)",
            hint: ExchangeAdvice.secretBody, range: definition.url.range)
    }

    /// At another origin that an answer chose nothing made from a secret is sent along.
    private func table(_ table: ValueTable, _ reach: CredentialScope) -> ValueTable {
        reach.includesOwn ? table : ValueTable(table.entries.filter { !$0.isSecret })
    }

    func addHeaders(to description: inout RequestDescription, _ reach: CredentialScope)
        throws(EvaluationFailure)
    {
        for (name, value) in try table(definition.headers, reach).pairs(in: scope) {
            do throws(RequestFailure) {
                try description.addHeader(name, value)
            } catch {
                throw .wrong(
                    message: error.message, hint: "a header is one line: take line breaks out with replace(…)",
                    range: definition.headers.entries.first { $0.name == name }?.range ?? definition.url.range)
            }
        }
        for name in definition.headers.credentialNames.compactMap({ HTTPField.Name($0) }) {
            description.credentialFields.insert(name)
        }
    }

    /// Makes the body; its type unless the author says another.
    private func addBody(to description: inout RequestDescription) throws(EvaluationFailure) -> String? {
        switch definition.body {
        case .none: return nil
        case .json(let template):
            description.body = try JSONBody.make(template, in: scope)
            return "application/json"
        case .form(let table):
            description.body = .text(PercentEncoding.query(try table.pairs(in: scope)))
            return "application/x-www-form-urlencoded"
        case .text(let template):
            description.body = try JSONBody.make(template, in: scope)
            return "text/plain; charset=utf-8"
        case .file(let template, let range):
            let source = try LocalSource(template, at: range, in: scope)
            description.body = .file(path: source.path, offset: 0, length: source.size)
            return "application/octet-stream"
        case .part:
            description.body = try partBody()
            return "application/octet-stream"
        }
    }

    private func partBody() throws(EvaluationFailure) -> RequestBody {
        switch part {
        case .bytes(let bytes): return .bytes(bytes)
        case .file(let path, let offset, let length): return .file(path: path, offset: offset, length: length)
        case .gzip(let content): return .gzip(content)
        case .lines, .base64, nil:
            throw .wrong(message: "there is no part to send here", hint: nil, range: definition.url.range)
        }
    }

    /// - Parameter identifies: whether the service's client certificate may be shown there, as its other credentials.
    private func options(identifies: Bool) throws(EvaluationFailure) -> ExchangeOptions {
        var options = requests.network.options
        options.acceptsCodings = requests.acceptsCodings
        if let timeout = definition.timeout ?? service?.timeout {
            options.totalTimeout = try timeout.value(in: scope)
        } else if options.idleTimeout == nil {
            // Nothing else ends an exchange whose other side has gone silent.
            options.idleTimeout = .seconds(300)
        }
        if options.stall == nil { options.stall = StallRule(bytesPerSecond: 1 << 10, time: .seconds(60)) }
        options.redirects = try definition.redirects?.value(in: scope)
        options.redirectKeepsCredentials = definition.credentials == .anyOrigin
        guard let service else { return options }
        options.reach = service.network == .public ? .public : .any
        if let limits = service.limits {
            // Under its name and its URL: another document may call another service by the same name.
            options.limits = ServiceLimits(
                service: "\(service.name) \(try ServiceURL(service, in: scope).text)",
                connections: try limits.connections?.value(in: scope),
                requestsPerSecond: try limits.requestsPerSecond?.value(in: scope),
                sendRate: try limits.send?.value(in: scope), receiveRate: try limits.receive?.value(in: scope))
            if let stall = limits.stall {
                options.stall = StallRule(
                    bytesPerSecond: try stall.below.value(in: scope), time: try stall.time.value(in: scope))
            }
        }
        if let proxy = service.proxy { options.proxy = try proxy.evaluateText(in: scope) }
        if let tls = service.tls { options.tls = try self.options(of: tls) }
        if !identifies { options.tls.forgetIdentity() }
        return options
    }

    private func options(of tls: TLSDefinition) throws(EvaluationFailure) -> TLSOptions {
        var options = TLSOptions()
        options.ca = try path(tls.authority)
        options.certificate = try path(tls.certificate)
        options.key = try path(tls.key)
        options.keyPassword = try tls.keyPassword?.evaluateText(in: scope)
        for pin in tls.pinnedPublicKeys { options.pinnedPublicKeys.append(try pin.evaluateText(in: scope)) }
        options.minimumVersion = tls.minimumVersion.flatMap { TLSOptions.Version(rawValue: $0.rawValue) }
        return options
    }

    private func path(_ template: Template?) throws(EvaluationFailure) -> String? {
        guard let template else { return nil }
        return LocalSource.absolute(try template.evaluateText(in: scope), in: scope.baseFolder)
    }
}

extension RequestDescription {
    /// Says the type of the body, unless the author does, in a decorator too. Programs among the decorators see it.
    mutating func setDefaultType(_ type: String, beside decorators: [any RequestDecorator]) {
        let isSaid = decorators.contains { decorator in
            (decorator as? Headers)?.fields.contains { $0.name.lowercased() == "content-type" } == true
        }
        if headers[.contentType] == nil, !isSaid { headers[.contentType] = type }
    }
}
