import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP

extension StageRequests {
    /// The request as far as it is known before it is sent.
    func preview(
        _ definition: RequestDefinition, as purpose: String, in scope: PreviewScope
    ) async -> RequestPreview {
        let (decorated, notes) = await decorated(definition, in: scope)
        var headers = definition.headers.descriptions(in: scope.known)
        let own = Set(headers.map { $0.name.lowercased() })
        for field in decorated.headers where !own.contains(field.name.canonicalName) {
            headers.append((field.name.rawName, field.value))
        }
        if let type = definition.body.contentType, !headers.contains(where: { $0.name.lowercased() == "content-type" })
        {
            headers.append(("Content-Type", type))
        }
        if let key = definition.once?.key, let name = key.header {
            headers.append((name, key.isQuoted.constant == true ? "\"‹self.key›\"" : "‹self.key›"))
        }
        var body = definition.body.description(in: scope.known)
        if case .multipart(let form) = decorated.body {
            body = Self.description(of: form)
            headers.removeAll { $0.name.lowercased() == "content-type" }
            headers.append(("Content-Type", Self.formType))
        }
        var preview = RequestPreview(
            purpose: purpose, method: definition.method.rawValue, url: url(of: definition, decorated.query, scope),
            headers: headers, body: body)
        preview.notes = notes
        preview.account = scope.account(of: definition, by: self)
        return preview
    }

    /// The type of a form with files; what parts its parts is made when it is sent.
    static let formType = "multipart/form-data"

    /// Returns how a lost answer to a submit would be reconciled, as a sentence.
    func settlement(of definition: RequestDefinition, in scope: PreviewScope) -> String {
        guard let once = definition.once else { return definition.unsettled }
        var ways: [String] = []
        if let key = once.key {
            let place = key.header.map { "the same key in \($0)" } ?? "the same ‹self.key›"
            let validity = key.validity.constant.map { ", for \(DurationText.describe($0))" } ?? ""
            ways.append("sent again with \(place)\(validity)")
        }
        switch once.lookUp {
        case .name(let request, let ours, _):
            let line = "\(request.method.rawValue) \(url(of: request, [], scope))"
            ways.append("looked up with \(line), and adopted when \(ours.text)")
        case .match(let list, _, let condition, _):
            let line = "\(list.method.rawValue) \(url(of: list, [], scope))"
            ways.append("looked for in \(line), where \(condition.text)")
        case nil: break
        }
        if once.resends.constant != false { ways.append("sent again, which costs nothing") }
        return ways.joined(separator: "; then ")
    }

    private func url(
        of definition: RequestDefinition, _ more: [(name: String, value: String)], _ scope: PreviewScope
    ) -> String {
        let path = definition.url.description(in: scope.known)
        var url = path
        if path.hasPrefix("/"), let service {
            let base = service.url.describe(in: scope.known)
            url = (base.hasSuffix("/") ? String(base.dropLast()) : base) + path
        }
        let query = definition.query.descriptions(in: scope.known)
        let names = Set(query.map(\.name))
        let all = query + more.filter { !names.contains($0.name) }
        guard !all.isEmpty else { return url }
        return url + (url.contains("?") ? "&" : "?") + Self.encoded(all)
    }

    /// The pairs as a query and a form have them; a value with a name for what comes later is left readable.
    fileprivate static func encoded(_ pairs: [(name: String, value: String)]) -> String {
        func encoded(_ text: String) -> String { text.contains("‹") ? text : PercentEncoding.component(text) }
        return pairs.map { "\(encoded($0.name))=\(encoded($0.value))" }.joined(separator: "&")
    }

    /// Returns what the decorators make of a request with no body: their fields, query and form. Those that need what
    /// is not known, and signatures and digests, which would be of something else, are left out.
    private func decorated(_ definition: RequestDefinition, in scope: PreviewScope) async -> (
        description: RequestDescription, notes: [String]
    ) {
        var notes: [String] = []
        var description = RequestDescription(method: definition.method, url: "http://preview.invalid/")
        let context = DecorationScope(scope: scope.filled, method: definition.method)
        var decoration = network.context
        decoration.key = "‹self.key›"
        let reach = definition.credentials != .none
        for template in definition.decorators + outerDecorators {
            guard reach || !template.isCredential || template.makesBody else { continue }
            guard let decorator = try? template.resolve(context) else { continue }
            if decorator is ContentDigest { continue }
            if let program = decorator as? ProgramDecorator {
                notes.append("the plugin \(program.program.name) changes it before it is sent")
                continue
            }
            if decorator is AWSSignature {
                if description.claimCredentials() { authorize("AWS4-HMAC-SHA256 ‹signature›", &description) }
                continue
            }
            if let basic = decorator as? Basic {
                if description.claimCredentials() { authorize(basic.described, &description) }
                continue
            }
            try? await decorator.decorate(&description, in: decoration)
        }
        if let source = description.tokenSource {
            authorize("Bearer ‹\(source.title)›", &description)
            if case .endpoint(let grant) = source {
                notes.append("POST \(grant.tokenURL) gives the token first, unless one is at hand (oauth2)")
            }
        }
        let isSomewhere = definition.url.readsCaptures && definition.url.start == nil
        if isSomewhere, definition.credentials == .service, let service,
            (definition.decorators + outerDecorators).contains(where: { $0.isCredential && !$0.makesBody })
        {
            notes.append("credentials go along to the origin of service '\(service.name)' alone")
        }
        return (description, notes)
    }

    private func authorize(_ value: String, _ description: inout RequestDescription) {
        try? description.setHeader("Authorization", to: value)
    }

    private static func description(of form: MultipartBody) -> JSON {
        var parts = JSONObject()
        for part in form.parts {
            let value: JSON =
                switch part.content {
                case .bytes(let bytes): .string(String(decoding: bytes, as: UTF8.self))
                case .file(let path, _, _), .lines(let path, _), .base64(let path, _): .string("‹file \(path)›")
                case .gzip(let content): .string("‹\(content.length) bytes of gzip›")
                }
            // A name that is repeated shows all its parts.
            switch parts[part.name] {
            case nil: parts[part.name] = value
            case .array(let values)?: parts[part.name] = .array(values + [value])
            case let first?: parts[part.name] = [first, value]
            }
        }
        return .object(parts)
    }
}

extension PreviewScope {
    /// The origin and the account of a request where they are asked for.
    fileprivate func account(of definition: RequestDefinition, by requests: StageRequests) -> String? {
        guard tellsAccounts else { return nil }
        return RequestRendering(definition: definition, requests: requests, scope: filled, part: nil).placedAccount
    }
}

extension RequestDefinition {
    /// The words for what becomes of a lost response that nothing reconciles.
    fileprivate var unsettled: String {
        onUnknown == .fail
            ? "the stage fails" : "it is unknown what became of it, until a person says so with 'pipeline resolve'"
    }
}

extension URLTemplate {
    /// The text as far as it is known.
    func description(in scope: Scope) -> String {
        pieces.map { piece in
            switch piece {
            case .literal(let text): text
            case .value(let expression): expression.describe(in: scope)
            }
        }.joined()
    }
}

extension ValueTable {
    /// Names and texts as far as they are known.
    func descriptions(in scope: Scope) -> [(name: String, value: String)] {
        entries.flatMap { entry -> [(name: String, value: String)] in
            let value = entry.value.describe(in: scope)
            return (value.array ?? [value]).filter { !$0.isNull }.map { (entry.name, $0.string ?? $0.text) }
        }
    }
}

extension BodyDefinition {
    /// The type that a body of this form has; nil for none.
    fileprivate var contentType: String? {
        switch self {
        case .none: nil
        case .json: "application/json"
        case .form: "application/x-www-form-urlencoded"
        case .text: "text/plain; charset=utf-8"
        case .file, .part: "application/octet-stream"
        }
    }

    fileprivate func description(in scope: Scope) -> JSON {
        switch self {
        case .none: .null
        case .json(let template): template.describe(in: scope)
        case .form(let table): .string(StageRequests.encoded(table.descriptions(in: scope)))
        case .text(let template): .string(template.describe(in: scope))
        case .file(let template, _): .string("‹file \(template.describe(in: scope))›")
        case .part: "‹bytes of the part›"
        }
    }
}
