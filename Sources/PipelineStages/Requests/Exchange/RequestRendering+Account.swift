import HTTPTypes
import JSONPath
import PipelineCore
import PipelineHTTP

extension RenderedRequest {
    /// The account that asks, by the values of its credentials. It is a secret: to be hashed, never shown.
    var account: String { Self.account(of: description, decorators) }

    fileprivate static func account(
        of description: RequestDescription, _ decorators: [any RequestDecorator]
    ) -> String {
        var text = ""
        for field in description.headers where description.isCredential(field.name) {
            text += "\u{0}\(field.name.canonicalName)=\(field.value)"
        }
        for decorator in decorators {
            if let credentials = decorator as? any CredentialDecorator { text += "\u{0}\(credentials.account)" }
            guard let headers = decorator as? Headers else { continue }
            for (name, value) in headers.fields {
                guard let field = HTTPField.Name(name), description.isCredential(field) else { continue }
                text += "\u{0}\(field.canonicalName)=\(value)"
            }
        }
        return text
    }
}

extension RequestRendering {
    /// The account with the names of captures in the place of their values: a token that a login gives is another one each
    /// time, for the same account. Nil where no credential reads a capture, or an expression takes no name for its value.
    func lastingAccount(
        of decorators: [DecoratorTemplate], at url: String, _ reach: CredentialScope
    ) -> String? {
        captures(of: decorators).isEmpty ? nil : namedAccount(of: decorators, at: url, reach)
    }

    /// The origin that the request goes to and the account that asks, as ``RequestSending/service`` has them; nil where one of
    /// them is not known. It is a secret, too.
    var placedAccount: String? { try? findAccount() }

    private func findAccount() throws(EvaluationFailure) -> String? {
        let base = try requests.service.map { service throws(EvaluationFailure) in try ServiceURL(service, in: scope) }
        let isPath = definition.url.start?.hasPrefix("/") == true
        let origin = try isPath ? base?.origin : URLParts(definition.url.text(in: scope))?.origin
        guard let origin else { return nil }
        let reach = CredentialScope(
            definition, in: scope, hasService: base != nil, isServiceOrigin: base?.origin == origin)
        let decorators = reach.allowed(definition.decorators, requests.outerDecorators)
        return namedAccount(of: decorators, at: origin, reach).map { origin + $0 }
    }

    /// The captures that the credentials are made from.
    private func captures(of decorators: [DecoratorTemplate]) -> [Reference] {
        definition.headers.credentials.flatMap(\.value.references).filter(\.isCapture)
            + decorators.filter { !$0.makesBody }.flatMap(\.captures)
    }

    private func namedAccount(
        of decorators: [DecoratorTemplate], at url: String, _ reach: CredentialScope
    ) -> String? {
        let captures = captures(of: decorators)
        let decorators = decorators.filter { !$0.makesBody }
        let named = RequestRendering(
            definition: definition, requests: requests, scope: scope.naming(captures), part: part)
        var description = RequestDescription(method: definition.method, url: url)
        do throws(EvaluationFailure) {
            try named.addHeaders(to: &description, reach)
            let made = try named.made(decorators, for: &description)
            return RenderedRequest.account(of: description, made)
        } catch {
            return nil
        }
    }
}

extension Scope {
    /// The scope in which these captures have their names as values.
    fileprivate func naming(_ captures: [Reference]) -> Scope {
        var named = self
        for reference in captures {
            switch reference.root {
            case .capture(let stage, let name):
                named.stages[stage] = named.stages[stage]?.naming(name, of: "stages.\(stage)")
            case .own(let name): named.own = JSON.object(named.own).naming(name, of: "self").object ?? named.own
            default: break
            }
        }
        return named
    }
}

extension JSON {
    /// The captures with one of them as its name; all of them where that is computed.
    fileprivate func naming(_ name: String?, of path: String) -> JSON {
        guard case .object(var members) = self, let name else { return named(path) }
        if let value = members[name] { members[name] = value.named("\(path).\(name)") }
        return .object(members)
    }

    /// The value with a path for each text and number in it; the elements of an array are not told apart.
    private func named(_ path: String) -> JSON {
        switch self {
        case .null, .bool: self
        case .string, .number: .string(path)
        case .array(let elements): .array(elements.map { $0.named(path) })
        case .object(let members):
            .object(JSONObject(members.map { ($0.name, $0.value.named("\(path).\($0.name)")) }))
        }
    }
}
